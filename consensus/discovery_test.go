package consensus

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// nameServer answers A and SRV questions over UDP from a table:
// "A name" and "SRV name" lead to the data of the records.
func nameServer(t *testing.T, records map[string][][]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := answerName(buf[:n], records); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerName is a DNS message (RFC 1035, section 4) with the records asked for.
func answerName(query []byte, records map[string][][]byte) []byte {
	if len(query) < 12 {
		return nil
	}
	var labels []string
	at := 12
	for at < len(query) && query[at] != 0 {
		end := at + 1 + int(query[at])
		if end > len(query) {
			return nil
		}
		labels = append(labels, string(query[at+1:end]))
		at = end
	}
	if at+5 > len(query) {
		return nil
	}
	kind := binary.BigEndian.Uint16(query[at+1:])
	question := query[12 : at+5]
	found := records[map[uint16]string{1: "A ", 33: "SRV "}[kind]+strings.ToLower(strings.Join(labels, "."))]
	out := append([]byte(nil), query[:2]...)
	out = append(out, 0x84, 0, 0, 1, 0, byte(len(found)), 0, 0, 0, 0)
	out = append(out, question...)
	for _, data := range found {
		out = append(out, 0xc0, 12) // the name in the question
		out = binary.BigEndian.AppendUint16(out, kind)
		out = append(out, 0, 1, 0, 0, 0, 1)
		out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
		out = append(out, data...)
	}
	return out
}

// srvRecord is the data of an SRV record (RFC 2782) of priority 1 and weight 1.
func srvRecord(port uint16, target string) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0, 1, 0, 1}, port)
	for label := range strings.SplitSeq(target, ".") {
		out = append(append(out, byte(len(label))), label...)
	}
	return append(out, 0)
}

func TestJoinTargetsComeFromDNS(t *testing.T) {
	resolver := nameServer(t, map[string][][]byte{
		"A one.cairn.example":           {{10, 0, 0, 1}},
		"A all.cairn.example":           {{10, 0, 0, 1}, {10, 0, 0, 2}, {10, 0, 0, 3}},
		"SRV _cairn._tcp.cairn.example": {srvRecord(8751, "n1.cairn.example"), srvRecord(8761, "n2.cairn.example")},
	})
	for entry, want := range map[string][]string{
		"one.cairn.example:8751":           {"one.cairn.example:8751"}, // resolved anew at every dial
		"all.cairn.example:8751":           {"10.0.0.1:8751", "10.0.0.2:8751", "10.0.0.3:8751"},
		"srv:_cairn._tcp.cairn.example":    {"n1.cairn.example:8751", "n2.cairn.example:8761"},
		"nobody.cairn.example:8751":        {"nobody.cairn.example:8751"},
		"srv:_nobody._tcp.cairn.example":   nil,
		"127.0.0.1:8751":                   {"127.0.0.1:8751"},
		"no address at all, and no prefix": nil,
	} {
		got := resolveJoin(testContext(t), resolver, entry)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", entry, got, want)
		}
	}
}

// TestNodesFindEachOtherByDNS forms a site of three whose nodes know nothing but
// one SRV name.
func TestNodesFindEachOtherByDNS(t *testing.T) {
	c := &cluster{t: t, nodes: make([]*testNode, 3), fs: make([]vfs.FS, 3), addrs: make([]string, 3)}
	var found [][]byte
	for i := range c.nodes {
		c.fs[i], c.addrs[i] = vfs.NewMem(), freeAddr(t)
		addr, err := net.ResolveTCPAddr("tcp", c.addrs[i])
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, srvRecord(uint16(addr.Port), "localhost"))
	}
	resolver := nameServer(t, map[string][][]byte{"SRV peers.cairn.example": found, "A localhost": {{127, 0, 0, 1}}})
	c.change = func(_ int, cfg *Config) {
		cfg.Join, cfg.resolver = []string{"srv:peers.cairn.example"}, resolver
	}
	t.Cleanup(c.close)
	for i := range c.nodes {
		c.start(i)
	}
	c.incs(c.leader(), 5)
	c.equalStates()
	if got := votersOf(c.nodes[0]); got != 3 {
		t.Errorf("%d voters, want 3", got)
	}
}
