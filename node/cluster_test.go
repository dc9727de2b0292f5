package node

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"cairn/consensus"
	"cairn/node/api"
	"cairn/node/store"
)

// freePeer finds an address that nobody listens on now.
func freePeer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// trio is a site of three nodes in one process.
type trio struct {
	t     *testing.T
	nodes []*Node
	admin api.Caller
}

func newTrio(t *testing.T) *trio {
	t.Helper()
	s := &trio{t: t}
	first := s.open(Config{})
	for range 2 {
		s.open(Config{Join: []string{first.PeerAddr()}})
	}
	caller, err := first.Authenticate(context.Background(), first.AdminKey())
	if err != nil {
		t.Fatal(err)
	}
	s.admin = caller
	s.eventually("three healthy voters", func() bool {
		good := 0
		for i := range s.nodes { // as each of them sees it
			for _, n := range s.cluster(i).Nodes {
				if n.Healthy && n.Role != consensus.RoleNonvoter {
					good++
				}
			}
		}
		return good == 9
	})
	return s
}

func (s *trio) open(cfg Config) *Node {
	s.t.Helper()
	encoder, err := sharedEncoder()
	if err != nil {
		s.t.Fatal(err)
	}
	cfg.Dir, cfg.PeerAddr, cfg.PeerInsecure = s.t.TempDir(), freePeer(s.t), true
	cfg.Encoder, cfg.EmbedDeadline, cfg.Logger = encoder, time.Minute, slog.New(slog.DiscardHandler)
	n, err := Open(context.Background(), cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := n.Close(); err != nil {
			s.t.Error(err)
		}
	})
	s.nodes = append(s.nodes, n)
	return n
}

func (s *trio) eventually(what string, ok func() bool) {
	s.t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

func (s *trio) cluster(i int) api.Cluster {
	s.t.Helper()
	c, err := s.nodes[i].Cluster(context.Background(), s.admin)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *trio) backup(i int) []byte {
	s.t.Helper()
	var out bytes.Buffer
	if err := s.nodes[i].Backup(context.Background(), s.admin, &out); err != nil {
		s.t.Fatal(err)
	}
	return out.Bytes()
}

func TestMembersAreLookedAfter(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	stranger := "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	added, err := s.nodes[1].AddNode(ctx, s.admin, api.AddNode{Address: s.nodes[2].PeerAddr()})
	if err != nil || !added.Joined || added.Node.ID != s.nodes[2].NodeID() || len(added.Join) != 2 {
		t.Errorf("a member: got %+v, %v", added, err)
	}
	added, err = s.nodes[1].AddNode(ctx, s.admin, api.AddNode{Address: "127.0.0.1:1"})
	if err != nil || added.Joined || added.Node != nil || len(added.Join) != 3 {
		t.Errorf("nobody yet: got %+v, %v", added, err)
	}
	for _, address := range []string{"", "host", ":1", "host:"} {
		if _, err := s.nodes[0].AddNode(ctx, s.admin, api.AddNode{Address: address}); codeOf(err) != api.CodeInvalid {
			t.Errorf("address %q: got %v", address, err)
		}
	}
	if _, err := s.nodes[0].TransferLeadership(ctx, s.admin, api.Transfer{To: stranger}); codeOf(err) != api.CodeNotFound {
		t.Errorf("transfer to a stranger: got %v", err)
	}
	for i, n := range s.nodes { // to each in turn, asked at another one
		done, err := s.nodes[(i+1)%3].TransferLeadership(ctx, s.admin, api.Transfer{To: n.NodeID()})
		if err != nil || done.Value.Leader != n.NodeID() {
			t.Fatalf("transfer to node %d: got %+v, %v", i, done.Value, err)
		}
	}
	if _, err := s.nodes[0].RemoveNode(ctx, s.admin, stranger); codeOf(err) != api.CodeNotFound {
		t.Errorf("remove a stranger: got %v", err)
	}
	if _, err := s.nodes[0].RemoveNode(ctx, s.admin, s.nodes[2].NodeID()); err != nil { // the leader
		t.Fatal(err)
	}
	<-s.nodes[2].Removed()
	s.eventually("a site of two", func() bool { c := s.cluster(0); return len(c.Nodes) == 2 && c.Leader != "" })
}

func TestLastVoterStays(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	if _, err := s.node.RemoveNode(ctx, s.admin, s.node.NodeID()); codeOf(err) != api.CodeConflict {
		t.Errorf("remove: got %v", err)
	}
	if _, err := s.node.TransferLeadership(ctx, s.admin, api.Transfer{}); codeOf(err) != api.CodeConflict {
		t.Errorf("transfer: got %v", err)
	}
}

func TestOperatingNeedsTheSitesAdmin(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	agent := s.agent("ann", "alice")
	for name, err := range map[string]error{
		"add":      second(s.node.AddNode(ctx, agent, api.AddNode{Address: "127.0.0.1:1"})),
		"remove":   second(s.node.RemoveNode(ctx, agent, s.node.NodeID())),
		"transfer": second(s.node.TransferLeadership(ctx, agent, api.Transfer{})),
		"backup":   s.node.Backup(ctx, agent, io.Discard),
		"restore":  second(s.node.Restore(ctx, agent, bytes.NewReader(nil), true)),
	} {
		if codeOf(err) != api.CodeDenied {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestRestoresAtOnce restores the same backup at two nodes of three: the site has one state after it, and each restore
// began an epoch of its own.
func TestRestoresAtOnce(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	backup := s.backup(1)
	before := s.cluster(0).Epoch
	epochs := make([]uint64, 2)
	var wg sync.WaitGroup
	for i := range epochs {
		wg.Go(func() {
			done, err := s.nodes[i].Restore(ctx, s.admin, bytes.NewReader(backup), false)
			if err != nil {
				t.Errorf("restore at node %d: %v", i, err)
			}
			epochs[i] = done.Epoch
		})
	}
	wg.Wait()
	if min(epochs[0], epochs[1]) != before+1 || max(epochs[0], epochs[1]) != before+2 {
		t.Errorf("epochs %v after %d", epochs, before)
	}
	s.eventually("the epoch on all nodes", func() bool {
		return s.cluster(0).Epoch == before+2 && s.cluster(1).Epoch == before+2 && s.cluster(2).Epoch == before+2
	})
}

// TestRestoreIntoAYoungerSite: what the backup holds stays behind what follows, so feeds, changes and receipts are in order.
func TestRestoreIntoAYoungerSite(t *testing.T) {
	ctx := context.Background()
	old := newSite(t)
	ann := old.agent("ann", "alice")
	for i := range 30 {
		old.add(ann, lesson(i), api.Write{})
	}
	var backup bytes.Buffer
	if err := old.node.Backup(ctx, old.admin, &backup); err != nil {
		t.Fatal(err)
	}
	young := newSite(t)
	preview, err := young.node.Restore(ctx, young.admin, bytes.NewReader(backup.Bytes()), true)
	if err != nil || !preview.DryRun || preview.Index >= preview.Backup.Index {
		t.Fatalf("preview: got %+v, %v", preview, err)
	}
	done, err := young.node.Restore(ctx, young.admin, bytes.NewReader(backup.Bytes()), false)
	if err != nil {
		t.Fatal(err)
	}
	if done.Index <= done.Backup.Index || done.Epoch != preview.Epoch+1 || done.Site != done.Backup.Site {
		t.Errorf("restored: got %+v", done)
	}
	again := young.caller(old.node.AdminKey())
	if _, err := young.node.Authenticate(ctx, young.node.AdminKey()); err == nil {
		t.Error("the key from before the restore still counts")
	}
	if got := len(young.own(young.callerOf(ann, again))); got != 30 {
		t.Errorf("%d lessons were restored, want 30", got)
	}
}

// callerOf is ann at this site: the agent came with the backup.
func (s *site) callerOf(ann, admin api.Caller) api.Caller {
	s.t.Helper()
	ann.KeyID = admin.KeyID
	return ann
}

func TestUnusableBackupsChangeNothing(t *testing.T) {
	ctx := context.Background()
	s := newSite(t)
	ann := s.agent("ann", "alice")
	s.add(ann, lesson(1), api.Write{})
	var whole bytes.Buffer
	if err := s.node.Backup(ctx, s.admin, &whole); err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole.Bytes())
	flipped[len(flipped)/2] ^= 1
	cases := map[string]io.Reader{
		"empty":   bytes.NewReader(nil),
		"cut":     bytes.NewReader(whole.Bytes()[:whole.Len()-1]),
		"flipped": bytes.NewReader(flipped),
		"longer":  io.MultiReader(bytes.NewReader(whole.Bytes()), bytes.NewReader([]byte{0})),
		"newer":   bytes.NewReader(newerState(t, whole.Bytes())),
		"broken":  iotest.TimeoutReader(bytes.NewReader(whole.Bytes())),
	}
	at := s.node.group.Applied()
	for name, r := range cases {
		for _, dry := range []bool{true, false} {
			if _, err := s.node.Restore(ctx, s.admin, r, dry); codeOf(err) != api.CodeInvalid {
				t.Errorf("%s, dry %v: got %v", name, dry, err)
			}
		}
	}
	if got := s.node.group.Applied(); got != at {
		t.Errorf("the index went from %d to %d", at, got)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, spoolPattern)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// newerState is a whole archive whose manifest names a format of the state that this version cannot read.
func newerState(t *testing.T, archive []byte) []byte {
	t.Helper()
	const magic = 8
	size := int(binary.BigEndian.Uint32(archive[magic:]))
	var manifest map[string]any
	if err := json.Unmarshal(archive[magic+4:magic+4+size], &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest["state_format"] != float64(store.FormatVersion) {
		t.Fatalf("the manifest has no format of the state: %v", manifest)
	}
	manifest["state_format"] = store.FormatVersion + 1
	head, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.Clone(archive[:magic])
	out = append(binary.BigEndian.AppendUint32(out, uint32(len(head))), head...)
	out = append(out, archive[magic+4+size:len(archive)-32]...)
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func TestSpoolOfAKilledProcessIsRemoved(t *testing.T) {
	s := newSite(t)
	s.stop()
	left := filepath.Join(s.dir, "restore-123.tmp")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}

// TestBeforeRestore: the epoch that stands counts, whatever the command was made for.
func TestBeforeRestore(t *testing.T) {
	s := newSite(t)
	m := machine{s.node.store}
	for above, want := range map[uint64]uint64{0: 1, 1: 1, 9: 9} {
		data, err := bumpEpoch(store.BumpEpoch{Above: above})
		if err != nil {
			t.Fatal(err)
		}
		if data, err = m.BeforeRestore(data); err != nil {
			t.Fatal(err)
		}
		var cmd store.Command
		var got store.BumpEpoch
		if err := errors.Join(store.DecodeBody(data, &cmd), store.DecodeBody(cmd.Body, &got)); err != nil || got.Above != want {
			t.Errorf("above %d: got %d, %v, want %d", above, got.Above, err, want)
		}
	}
	if _, err := m.BeforeRestore([]byte("nonsense")); err == nil {
		t.Error("nonsense was taken")
	}
}

// TestJoiningNeedsASite: a node that finds nobody says so when it is told to end, and makes no site of its own.
func TestJoiningNeedsASite(t *testing.T) {
	encoder, err := sharedEncoder()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	waiting := make(chan struct{})
	log := slog.New(&watching{want: "waiting for the site", seen: sync.OnceFunc(func() { close(waiting) })})
	done := make(chan error, 1)
	go func() {
		_, err := Open(ctx, Config{Dir: dir, PeerAddr: "127.0.0.1:0", PeerInsecure: true, Join: []string{freePeer(t)}, Encoder: encoder, Logger: log})
		done <- err
	}()
	<-waiting
	cancel()
	if err := <-done; err == nil {
		t.Fatal("the node opened without a site")
	}
	if _, err := os.Stat(filepath.Join(dir, "admin.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an admin's key was made: %v", err)
	}
}

// watching is a log handler that calls seen at a message.
type watching struct {
	want string
	seen func()
}

func (w *watching) Enabled(context.Context, slog.Level) bool { return true }
func (w *watching) WithAttrs([]slog.Attr) slog.Handler       { return w }
func (w *watching) WithGroup(string) slog.Handler            { return w }
func (w *watching) Handle(_ context.Context, r slog.Record) error {
	if r.Message == w.want {
		w.seen()
	}
	return nil
}
