package consensus

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func backupOf(t *testing.T, n *testNode) []byte {
	t.Helper()
	var out bytes.Buffer
	m, err := n.Backup(testContext(t), &out, "site", 7)
	if err != nil {
		t.Fatal(err)
	}
	if m.Site != "site" || m.Epoch != 7 || m.Index == 0 || len(m.Files) == 0 {
		t.Errorf("manifest: %+v", m)
	}
	return out.Bytes()
}

func TestBackupAndRestoreIntoTheRunningSite(t *testing.T) {
	c := newCluster(t, 3, nil)
	c.incs(c.leader(), 10)
	backup := backupOf(t, c.nodes[c.leader()])
	if m, err := InspectBackup(bytes.NewReader(backup)); err != nil || m.Epoch != 7 {
		t.Fatalf("inspect: %+v, %v", m, err)
	}
	c.incs(c.leader(), 10)
	before := c.nodes[0].Applied()
	asked := c.nodes[c.follower()]
	res, err := asked.Restore(testContext(t), bytes.NewReader(backup), kvCommand{Op: "set", Key: "epoch", Value: "8"}.encode())
	if err != nil {
		t.Fatal(err)
	}
	if res.Index <= before {
		t.Errorf("index went back from %d to %d", before, res.Index)
	}
	c.equalStates()
	for i, n := range c.nodes {
		if got := n.kv.value("n") + " " + n.kv.value("epoch"); got != "10 8" {
			t.Errorf("node %d: got %q, want 10 8", i, got)
		}
	}
	c.incs(c.follower(), 1)
	c.eventually("the log to be compacted", func() bool {
		first, _ := logBounds(t, c.nodes[0])
		return first == 0 || first > res.Index
	})
	c.eventually("the copies to be removed", c.noCopies)
	for i := range c.nodes {
		c.stop(i)
	}
	for i := range c.nodes {
		c.start(i)
	}
	c.equalStates()
	if got := c.nodes[0].kv.value("n"); got != "11" {
		t.Errorf("after a restart: got %s, want 11", got)
	}
	// A node that starts from nothing gets the restored state, not the past.
	victim := c.follower()
	c.stop(victim)
	c.fs[victim] = vfs.NewMem()
	n := c.start(victim)
	c.eventually("the wiped node", func() bool { return votersOf(n) == 3 && n.kv.value("n") == "11" })
	c.equalStates()
}

// TestRestoresBeginDifferentEpochs restores at two nodes at once: each of the
// two commands was made for the epoch that stood before both.
func TestRestoresBeginDifferentEpochs(t *testing.T) {
	c := newCluster(t, 3, nil)
	c.incs(c.leader(), 3)
	backup := backupOf(t, c.nodes[0])
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			epoch := kvCommand{Op: "set", Key: "epoch", Value: "8"}.encode()
			if _, err := c.nodes[i].Restore(testContext(t), bytes.NewReader(backup), epoch); err != nil {
				t.Errorf("restore at node %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	c.equalStates()
	for i, n := range c.nodes {
		if got := n.kv.value("epoch"); got != "9" {
			t.Errorf("node %d: epoch %s after two restores, want 9", i, got)
		}
	}
}

// TestRestoreIntoAYoungerSite: indexes go on behind those of the backup, on all
// nodes and over a restart, wherever the restore was asked for.
func TestRestoreIntoAYoungerSite(t *testing.T) {
	old := startNode(t, vfs.NewMem(), nil)
	var last Result
	for range 3 {
		if err := old.fillLog(testContext(t), old.Applied()+fillChunk+7); err != nil {
			t.Fatal(err)
		}
		last = old.do(kvCommand{Op: "inc", Key: "n"})
	}
	backup := backupOf(t, old)
	for name, ask := range map[string]func(*cluster) int{"leader": (*cluster).leader, "follower": (*cluster).follower} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 3, nil)
			c.incs(c.leader(), 2)
			res, err := c.nodes[ask(c)].Restore(testContext(t), bytes.NewReader(backup), nil)
			if err != nil {
				t.Fatal(err)
			}
			if res.Index <= last.Index {
				t.Errorf("restored at index %d, the backup has %d", res.Index, last.Index)
			}
			c.equalStates()
			c.stop(1)
			c.start(1)
			c.incs(c.leader(), 1)
			c.equalStates()
			if got := c.nodes[1].kv.value("n"); got != "4" {
				t.Errorf("counter: got %s, want 4", got)
			}
		})
	}
}

// TestNewerStateIsRefused: by the node that is asked, by another member that
// cannot read it, and by a node that would get it to catch up.
func TestNewerStateIsRefused(t *testing.T) {
	newer := startNode(t, vfs.NewMem(), nil)
	newer.kv.format = 3
	newer.do(kvCommand{Op: "set", Key: "a", Value: "new"})
	backup := backupOf(t, newer)
	if m, err := InspectBackup(bytes.NewReader(backup)); err != nil || m.StateFormat != 3 {
		t.Fatalf("inspect: %+v, %v", m, err)
	}
	c := newCluster(t, 3, nil)
	c.nodes[c.leader()].do(kvCommand{Op: "set", Key: "a", Value: "old"})
	if _, err := c.nodes[0].Restore(testContext(t), bytes.NewReader(backup), nil); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("restore: got %v, want ErrNewerFormat", err)
	}
	c.nodes[0].incoming.format = 3 // this node was upgraded, the others were not
	if _, err := c.nodes[0].Restore(testContext(t), bytes.NewReader(backup), nil); err == nil {
		t.Error("restored although two members cannot read the state")
	}
	c.equalStates()
	for i, n := range c.nodes {
		if got := n.kv.value("a"); got != "old" || n.Status().Halted != "" {
			t.Errorf("node %d: value %s, halted %q", i, got, n.Status().Halted)
		}
	}
	c.eventually("the copies to be removed", c.noCopies)
}

func TestRestoreIntoAnEmptySite(t *testing.T) {
	first := startNode(t, vfs.NewMem(), nil)
	for range 30 {
		first.do(kvCommand{Op: "inc", Key: "n"})
	}
	backup := backupOf(t, first)
	fs := vfs.NewMem()
	second := startNode(t, fs, nil)
	if _, err := second.Restore(testContext(t), bytes.NewReader(backup), nil); err != nil {
		t.Fatal(err)
	}
	if got := second.do(kvCommand{Op: "inc", Key: "n"}); string(got.Value) != "31" {
		t.Errorf("counter: got %s, want 31", got.Value)
	}
	second.close()
	second = startNode(t, fs, nil)
	if got := second.do(kvCommand{Op: "inc", Key: "n"}); string(got.Value) != "32" {
		t.Errorf("counter after a restart: got %s, want 32", got.Value)
	}
}

func TestRestoreNeedsEveryMember(t *testing.T) {
	c := newCluster(t, 3, nil)
	c.incs(c.leader(), 3)
	backup := backupOf(t, c.nodes[0])
	c.incs(c.leader(), 1)
	c.stop(c.follower())
	if _, err := c.nodes[c.leader()].Restore(testContext(t), bytes.NewReader(backup), nil); err == nil {
		t.Fatal("restored although a member was down")
	}
	c.equalStates()
	if got := c.nodes[c.leader()].kv.value("n"); got != "4" {
		t.Errorf("counter: got %s, want 4", got)
	}
}

// TestDamagedBackupChangesNothing cuts a backup everywhere and flips bytes.
func TestDamagedBackupChangesNothing(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "set", Key: "a", Value: "old"})
	backup := backupOf(t, n)
	n.do(kvCommand{Op: "set", Key: "a", Value: "new"})
	applied := n.Applied()
	step := max(1, len(backup)/40)
	for at := 0; at < len(backup); at += step {
		flipped := bytes.Clone(backup)
		flipped[at] ^= 0x20
		for name, data := range map[string][]byte{"cut": backup[:at], "flipped": flipped} {
			if _, err := InspectBackup(bytes.NewReader(data)); err == nil {
				t.Errorf("%s at %d of %d: inspected without an error", name, at, len(backup))
			}
			if _, err := n.Restore(testContext(t), bytes.NewReader(data), nil); err == nil {
				t.Fatalf("%s at %d of %d: restored", name, at, len(backup))
			}
		}
	}
	behind := append(bytes.Clone(backup), 0)
	if _, err := InspectBackup(bytes.NewReader(behind)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte behind the end: inspect: got %v", err)
	}
	if _, err := n.Restore(testContext(t), bytes.NewReader(behind), nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("one byte behind the end: restore: got %v", err)
	}
	if n.Applied() != applied || n.kv.value("a") != "new" {
		t.Errorf("state changed: index %d, value %s", n.Applied(), n.kv.value("a"))
	}
	_, err := n.Restore(testContext(t), iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(backup))), nil)
	if !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("reader that fails: got %v", err)
	}
}

func TestBackupStops(t *testing.T) {
	n := startNode(t, vfs.NewMem(), nil)
	n.do(kvCommand{Op: "set", Key: "a"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := n.Backup(ctx, io.Discard, "", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("backup: got %v", err)
	}
	if names, err := n.fs.List("raft/outgoing"); err != nil || len(names) > 0 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// TestManifestNamesStayInside refuses archives that write elsewhere.
func TestManifestNamesStayInside(t *testing.T) {
	for _, name := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a\x00"} {
		m := Manifest{Format: archiveFormat, Files: []ManifestFile{{Name: name}}}
		if err := m.check(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("name %q: got %v", name, err)
		}
	}
	twice := Manifest{Format: archiveFormat, Files: []ManifestFile{{Name: "a"}, {Name: "a"}}}
	if err := twice.check(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("same name twice: got %v", err)
	}
	newer := Manifest{Format: archiveFormat + 1}
	if err := newer.check(); err == nil {
		t.Error("a newer format was accepted")
	}
}

// archivesOf are one folder in every form that is read: sums in front, sums
// behind, and format 1. One file has size bytes.
func archivesOf(t testing.TB, size int) map[string][]byte {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("d", 0o755); err != nil {
		t.Fatal(err)
	}
	long := bytes.Repeat([]byte{7}, size)
	for name, data := range map[string][]byte{"a": []byte("content"), "b": nil, "c": long} {
		if err := writeFileAtomic(fs, "d", name, data); err != nil {
			t.Fatal(err)
		}
	}
	files, err := listDir(fs, "d")
	if err != nil {
		t.Fatal(err)
	}
	archive := func() []byte {
		var out bytes.Buffer
		if err := writeArchive(&out, fs, "d", Manifest{Files: files}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	forms := map[string][]byte{"behind": archive()}
	if err := addSums(fs, "d", files); err != nil {
		t.Fatal(err)
	}
	forms["front"] = archive()
	raw, err := json.Marshal(Manifest{Format: 1, Files: files})
	if err != nil {
		t.Fatal(err)
	}
	old := slices.Concat(archiveMagic, binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw, []byte("content"), long)
	sum := sha256.Sum256(old)
	forms["format 1"] = append(old, sum[:]...)
	return forms
}

// TestArchiveForms reads every form, and refuses each when any part is altered
// or missing.
func TestArchiveForms(t *testing.T) {
	for name, good := range archivesOf(t, sumChunk+5) {
		m, err := InspectBackup(bytes.NewReader(good))
		if err != nil || len(m.Files) != 3 || m.Files[0].SHA256 != fmt.Sprintf("%x", sha256.Sum256([]byte("content"))) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		for at := 0; at < len(good); at += 1 + at/20 {
			altered := bytes.Clone(good)
			altered[at] ^= 0x20
			if m, err := InspectBackup(bytes.NewReader(altered)); err == nil {
				t.Errorf("%s: byte %d of %d altered: accepted as %+v", name, at, len(good), m)
			}
			if _, err := InspectBackup(bytes.NewReader(good[:at])); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: cut at %d of %d: got %v", name, at, len(good), err)
			}
		}
	}
}

func FuzzArchive(f *testing.F) {
	for _, good := range archivesOf(f, 50) {
		f.Add(good)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := InspectBackup(bytes.NewReader(data)); err == nil && !bytes.HasPrefix(data, archiveMagic) {
			t.Fatal("accepted something else")
		}
	})
}
