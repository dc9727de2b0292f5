package consensus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// diskFault fails one operation of one kind, and all later ones of that kind.
type diskFault struct {
	kind  errorfs.OpKind
	err   error
	after int // operations of this kind that succeed
}

var diskFaults = map[string]errorfs.OpKind{
	"create": errorfs.OpCreate,
	"write":  errorfs.OpFileWrite,
	"sync":   errorfs.OpFileSync,
	"data":   errorfs.OpFileSyncData,
	"link":   errorfs.OpLink,
	"rename": errorfs.OpRename,
}

// TestDiskErrors runs a node in a process of its own, whose disk begins to fail
// at every k-th operation of a kind. The process has to end or to report the
// error; what it had acknowledged has to be there for the next one.
func TestDiskErrors(t *testing.T) {
	if fault := os.Getenv("CAIRN_TEST_DISK"); fault != "" {
		runOnFailingDisk(t, fault)
		return
	}
	acknowledged, ended := 0, 0
	for kind := range diskFaults {
		for i, after := range []int{0, 3, 8, 30} {
			errno := []syscall.Errno{syscall.EIO, syscall.ENOSPC}[i%2]
			fault := fmt.Sprintf("%s %d %d", kind, errno, after)
			dir := t.TempDir()
			index, failed := runChild(t, dir, fault)
			if failed {
				ended++
			}
			acknowledged += index
			t.Chdir(dir)
			n := startNode(t, vfs.Default, nil)
			if err := n.Barrier(testContext(t)); err != nil {
				t.Errorf("%s: %v", fault, err)
			}
			if got, _ := strconv.Atoi(n.kv.value("n")); got < index {
				t.Errorf("%s: %d increments were acknowledged, %d are there", fault, index, got)
			}
			n.close()
		}
	}
	if acknowledged == 0 || ended == 0 {
		t.Errorf("%d acknowledged, %d processes ended: the test does not reach what it is for", acknowledged, ended)
	}
}

// runChild returns how many increments the child had acknowledged and whether
// it came to a bad end.
func runChild(t *testing.T, dir, fault string) (index int, failed bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run", "^TestDiskErrors$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CAIRN_TEST_DISK="+fault)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Errorf("%s: the process hung:\n%s", fault, out)
	}
	for line := range bytes.Lines(out) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "acknowledged "); ok {
			index, _ = strconv.Atoi(n)
		}
	}
	return index, err != nil
}

// runOnFailingDisk is the child. Its folder is the working directory.
func runOnFailingDisk(t *testing.T, description string) {
	var kind string
	var errno, after int
	if _, err := fmt.Sscan(description, &kind, &errno, &after); err != nil {
		t.Fatal(err)
	}
	fault := diskFault{diskFaults[kind], syscall.Errno(errno), after}
	var count atomic.Int64
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind != fault.kind || count.Add(1) <= int64(fault.after) {
			return nil
		}
		return &os.PathError{Op: "test", Path: op.Path, Err: fault.err}
	}))
	sm, err := openKV(fs, "state")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: "raft", PeerAddr: "127.0.0.1:0", BootstrapExpect: 1, fs: fs, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	g, err := Open(context.Background(), cfg, sm)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for i := 1; i <= 40; i++ {
		if _, err := g.Propose(ctx, kvCommand{Op: "inc", Key: "n"}.encode()); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\nacknowledged %d\n", i)
		if i%16 == 0 {
			t.Log(g.inst.Load().raft.Snapshot().Error())
		}
	}
	if err := errors.Join(g.Close(), sm.Close()); err != nil {
		t.Fatal(err)
	}
}
