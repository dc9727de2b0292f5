package clusterbench

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/hashicorp/raft"
)

func TestRowsAreNamedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Rows() {
		if seen[s.Name] || s.What == "" || s.Unit == "" {
			t.Errorf("row %s is named twice or says too little", s.Name)
		}
		seen[s.Name] = true
	}
}

func TestRowThatWasNotRunKeepsItsBarOpen(t *testing.T) {
	out := results{}
	out.put("write_c1_vs_etcd", rounds{1, 2, 3}, nil)
	for _, row := range out.ordered(func(string) string { return noPeer }) {
		want := row.Name == "write_c1_vs_etcd" || row.Op == ""
		if row.OK() != want {
			t.Errorf("%s: OK is %v", row.Name, row.OK())
		}
	}
}

func TestCommands(t *testing.T) {
	command := appendPut(putCommand("a", []byte("1")), "b", nil)
	var got []string
	if err := eachPut(command, func(k, v []byte) error { got = append(got, string(k)+"="+string(v)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0] != "a=1" || got[1] != "b=" {
		t.Errorf("got %q", got)
	}
	for n := 1; n < len(command); n++ {
		if n == len(putCommand("a", []byte("1"))) {
			continue
		}
		if err := eachPut(command[:n], func(_, _ []byte) error { return nil }); err == nil {
			t.Errorf("a command cut to %d bytes is accepted", n)
		}
	}
}

// TestDumpAndCheckpoint copies a state in both ways that are compared.
func TestDumpAndCheckpoint(t *testing.T) {
	s, err := openKV(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(3, 1, []int64{0}, [][]byte{putCommand("a", []byte("1"))}); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	d := dump{s.db.NewSnapshot()}
	if err := d.write(&buf); err != nil {
		t.Fatal(err)
	}
	d.Release()
	other, err := openKV(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &dumpFSM{dir: other.dir, state: other}
	if err := f.Restore(io.NopCloser(&buf)); err != nil {
		t.Fatal(err)
	}
	if v, err := f.state.get([]byte("a")); err != nil || string(v) != "1" {
		t.Errorf("restored %q, %v", v, err)
	}
	if err := f.Apply(&raft.Log{Index: 4, Term: 1, Data: putCommand("a", []byte("2"))}); err != nil {
		t.Error(err)
	}
	copied := t.TempDir() + "/copy"
	if err := f.state.Checkpoint(copied); err != nil {
		t.Fatal(err)
	}
	if err := s.Install(copied); err != nil {
		t.Fatal(err)
	}
	if v, err := s.get([]byte("a")); err != nil || string(v) != "2" {
		t.Errorf("installed %q, %v", v, err)
	}
	if err := f.state.close(); err != nil {
		t.Error(err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// TestNodeAnswersClients runs a node and a load in this process.
func TestNodeAnswersClients(t *testing.T) {
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	dir := t.TempDir()
	go func() {
		ended <- Node(ctx, NodeOptions{Dir: dir, Peer: ports[0], Client: ports[1], Expect: 1, Log: io.Discard})
	}()
	system := &cairnSystem{clients: ports[1:]}
	for !system.leads(ctx, 0) {
		if err := pause(ctx, leaderPause); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := Load(ctx, LoadOptions{Addr: ports[1], Op: "fill", Clients: 4, Size: 100, Keys: 20}, &out); err != nil {
		t.Fatal(err)
	}
	var l loaded
	if err := json.Unmarshal(out.Bytes(), &l); err != nil || l.Ops != 20 {
		t.Errorf("%s: %v", out.String(), err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
