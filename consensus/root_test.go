package consensus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// asRoot runs a command that needs root, or skips the test.
func asRoot(t *testing.T, command ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("%s needs root", command[0])
	}
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s is not possible here: %v: %s", strings.Join(command, " "), err, out)
	}
}

// undo runs a command at the end of the test.
func undo(t *testing.T, command ...string) {
	t.Cleanup(func() {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", strings.Join(command, " "), err, out)
		}
	})
}

// TestFullDisk runs a node on a disk of 8 MB. Writes are refused before it is
// full; reads, and commands that free space, go on; nothing acknowledged is
// lost; and with room again the node goes on.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	asRoot(t, "mount", "-t", "tmpfs", "-o", "size=8m", "cairn-test", dir)
	undo(t, "umount", dir)
	filler := filepath.Join(dir, "filler")
	p := &process{t: t, dir: dir, addr: freeAddr(t)}
	p.startForTest()
	leading(t, []*process{p}, nil)

	acked := 0
	write := func() error {
		_, err := p.call("set", fmt.Sprintf("v%d", acked), "-", 4<<10, readLimit)
		if err == nil {
			acked++
		}
		return err
	}
	for range 20 {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	for usedShare(t, dir) < 0.92 && grow(t, filler, 32<<10) {
	}
	tick := time.NewTicker(50 * time.Millisecond) // the node looks once a second
	defer tick.Stop()
	for refused := error(nil); refused == nil; <-tick.C {
		if refused = write(); refused != nil && !strings.Contains(refused.Error(), ErrStorageFull.Error()) {
			t.Fatalf("after %d writes: got %v, want %v", acked, refused, ErrStorageFull)
		}
	}
	kept := func() {
		t.Helper()
		for i := range acked {
			if size, err := p.call("size", fmt.Sprintf("v%d", i), "-", 0, readLimit); err != nil || size != fmt.Sprint(4<<10) {
				t.Fatalf("value %d of %d: %s bytes, %v", i, acked, size, err)
			}
		}
	}
	kept()
	if _, err := p.call("read", "v0", "-", 0, readLimit); err != nil {
		t.Errorf("linear read on a full disk: %v", err)
	}
	if _, err := p.call("set", "w", "freeing", 1, readLimit); err != nil {
		t.Errorf("a command that frees space: %v", err)
	}

	// The last byte is taken by somebody else: the node may end, but lies to nobody.
	for grow(t, filler, 4<<10) {
	}
	if _, err := p.call("set", "x", "freeing", 256<<10, readLimit); err == nil {
		t.Error("acknowledged without room on the disk")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Process.Kill()
	<-p.exited
	p.start()
	leading(t, []*process{p}, nil)
	kept()
	eventually(t, "writes to be accepted again", func() bool {
		_, err := p.call("set", "y", "-", 1, readLimit)
		return err == nil
	})
}

// usedShare is how full the disk of dir is, 0 to 1.
func usedShare(t *testing.T, dir string) float64 {
	t.Helper()
	d := diskWatch{fs: vfs.Default, dir: dir}
	d.look()
	return d.usedRatio()
}

// grow adds n bytes to a file and reports whether there was room.
func grow(t *testing.T, path string, n int) bool {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.Write(make([]byte, n))
	return err == nil
}

// TestNetworkNamespaces puts every node into a network of its own and pulls the
// plug of one after the other: nothing is refused or reset then, packets just
// do not arrive. The nodes speak TLS, as they must outside of loopback.
func TestNetworkNamespaces(t *testing.T) {
	const bridge = "cairnt0"
	asRoot(t, "ip", "link", "add", bridge, "type", "bridge")
	undo(t, "ip", "link", "del", bridge)
	asRoot(t, "ip", "link", "set", bridge, "up")
	pki := t.TempDir()
	if err := InitPeerCA(pki); err != nil {
		t.Fatal(err)
	}
	if _, err := IssuePeerCert(pki, "node"); err != nil {
		t.Fatal(err)
	}
	var nodes []*process
	var plugs []string
	for i := range 3 {
		name, plug := fmt.Sprintf("cairnt%d", i+1), fmt.Sprintf("cairntv%d", i+1)
		asRoot(t, "ip", "netns", "add", name)
		undo(t, "ip", "netns", "del", name)
		asRoot(t, "ip", "link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", name)
		asRoot(t, "ip", "link", "set", plug, "master", bridge, "up")
		asRoot(t, "ip", "-n", name, "addr", "add", fmt.Sprintf("10.213.77.%d/24", i+1), "dev", "eth0")
		asRoot(t, "ip", "-n", name, "link", "set", "eth0", "up")
		asRoot(t, "ip", "-n", name, "link", "set", "lo", "up")
		plugs = append(plugs, plug)
		p := &process{
			t: t, dir: t.TempDir(), addr: fmt.Sprintf("10.213.77.%d:8751", i+1),
			env: []string{"CAIRN_TEST_PKI=" + pki}, prefix: []string{"ip", "netns", "exec", name},
		}
		for j := range 3 {
			if j != i {
				p.join = append(p.join, fmt.Sprintf("10.213.77.%d:8751", j+1))
			}
		}
		nodes = append(nodes, p)
	}
	for _, p := range nodes {
		p.startForTest()
	}
	leading(t, nodes, nil)
	rng := rand.New(rand.NewPCG(uint64(envInt("CAIRN_SOAK_SEED", 1)), 17))
	seq := uint64(0)
	add := func(at []*process, n int) {
		t.Helper()
		for range n {
			seq++
			if got := insistFor(t, at, rng, seq, time.Second); got != fmt.Sprint(seq) {
				t.Fatalf("increment %d gave %s", seq, got)
			}
		}
	}
	add(nodes, 5)
	for range envInt("CAIRN_PLUG_ROUNDS", 2) {
		cut := leading(t, nodes, nil)
		var rest []*process
		plug := ""
		for i, p := range nodes {
			if p == cut {
				plug = plugs[i]
			} else {
				rest = append(rest, p)
			}
		}
		asRoot(t, "ip", "link", "set", plug, "down")
		leading(t, rest, nil)
		add(rest, 5)
		if _, err := cut.call("read", "n", "-", 0, time.Second); err == nil {
			t.Error("the node without a network answered a linear read")
		}
		asRoot(t, "ip", "link", "set", plug, "up")
		add(nodes, 3)
	}
	sameCount(t, nodes, "n", fmt.Sprint(seq))
	for _, p := range nodes { // ip only starts them: the signal reaches the node itself
		p.signal(syscall.SIGTERM)
	}
}
