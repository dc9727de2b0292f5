package consensus

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// goldenDir holds the folders of a node as an earlier version left them: 30
// increments, a compaction after the 20th. CAIRN_WRITE_GOLDEN writes new ones
// into the folder it names.
const goldenDir = "testdata/v1"

func TestWriteGolden(t *testing.T) {
	dir := os.Getenv("CAIRN_WRITE_GOLDEN")
	if dir == "" {
		t.Skip("set CAIRN_WRITE_GOLDEN to a folder to write one")
	}
	t.Chdir(dir)
	n := startNode(t, vfs.Default, func(c *Config) { c.TrailingEntries = 5 })
	for i := range 30 {
		n.do(kvCommand{Op: "inc", Key: "n"})
		if i == 19 {
			if err := n.inst.Load().raft.Snapshot().Error(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestFolderOfAnEarlierVersionOpens starts on a copy of goldenDir.
func TestFolderOfAnEarlierVersionOpens(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(goldenDir)); err != nil {
		t.Fatal(err)
	}
	id, err := os.ReadFile(filepath.Join(dir, "raft", nodeIDFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	n := startNode(t, vfs.Default, nil)
	if err := n.Barrier(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := n.kv.value("n"); got != "30" {
		t.Errorf("counter: got %s, want 30", got)
	}
	if n.NodeID()+"\n" != string(id) {
		t.Errorf("node id: got %s, want %s", n.NodeID(), id)
	}
	if first, _ := logBounds(t, n); first < 10 {
		t.Errorf("log starts at %d: the compaction is lost", first)
	}
	n.do(kvCommand{Op: "inc", Key: "n"})
}
