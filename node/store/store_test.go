package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"cairn/federation"
)

func (l *lab) checkpoint() string {
	l.t.Helper()
	dir := filepath.Join(l.t.TempDir(), "copy")
	if err := l.s.Checkpoint(dir); err != nil {
		l.t.Fatal(err)
	}
	return dir
}

func TestInstallReplacesTheState(t *testing.T) {
	source, l := newLab(t), newLab(t)
	source.agent("a1", "alice")
	added := source.add("a1", "one")
	dir := source.checkpoint()
	copied, _ := source.s.Applied()
	before := listing(t, dir)
	source.add("a1", "two") // not in the copy

	old, err := l.s.View()
	if err != nil {
		t.Fatal(err)
	}
	generation := l.s.Generation()
	changed := l.s.Changed()
	for range 2 { // a crash after the switch repeats it
		if err := l.s.Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-changed:
	default:
		t.Error("nobody was woken")
	}
	if l.s.Generation() != generation+2 {
		t.Errorf("generation %d, want %d", l.s.Generation(), generation+2)
	}
	if e := l.get(added.ID); e == nil || e.Content != "one" {
		t.Errorf("after the install: %+v", e)
	}
	if ns, err := old.Namespace(DefaultNamespace); err != nil || ns == nil {
		t.Errorf("a view of the old state: %+v, %v", ns, err)
	}
	oldDir := l.s.genDir(generation)
	if _, err := os.Stat(oldDir); err != nil {
		t.Errorf("the old state went under an open view: %v", err)
	}
	old.Close()
	if _, err := os.Stat(oldDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the old state is left: %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the install changed its source:\n%s\nwas\n%s", after, before)
	}
	if at, _ := l.s.Applied(); at != copied {
		t.Errorf("applied %d, want the copy's %d", at, copied)
	}
	l.ids = source.ids
	l.add("a1", "three")
	l.reopen()
	if e := l.get(added.ID); e == nil {
		t.Error("the installed state is gone after a restart")
	}
	l.mustCheck()
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		h := textHash(string(data))
		out += fmt.Sprintf("%s %d %x\n", e.Name(), len(data), h[:4])
	}
	return out
}

func TestInstallRefusesWhatIsNoState(t *testing.T) {
	l := newLab(t)
	other := filepath.Join(t.TempDir(), "other")
	db, err := pebble.Open(other, &pebble.Options{Logger: pebbleLogger{slog.New(slog.DiscardHandler)}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Set([]byte("k"), []byte("v"), pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	newer := func() string {
		source := newLab(t)
		if err := source.s.gen.db.Set(key(kindMeta).str(string(metaFormat)), []byte{FormatVersion + 1}, pebble.Sync); err != nil {
			t.Fatal(err)
		}
		return source.checkpoint()
	}()
	for name, dir := range map[string]string{"empty": t.TempDir(), "missing": filepath.Join(t.TempDir(), "none"), "another database": other, "a newer format": newer} {
		t.Run(name, func(t *testing.T) {
			generation, before := l.s.Generation(), l.dump()
			if err := l.s.Install(dir); err == nil {
				t.Fatal("it was installed")
			}
			if l.s.Generation() != generation || l.dump() != before {
				t.Error("the state changed")
			}
			if _, err := os.Stat(l.s.genDir(generation + 1)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the refused copy is left: %v", err)
			}
		})
	}
	l.agent("a1", "alice") // the old state goes on
}

func TestOpenRefusesANewerFormat(t *testing.T) {
	l := newLab(t)
	if err := l.s.gen.db.Set(key(kindMeta).str(string(metaFormat)), []byte{FormatVersion + 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := l.s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(l.dir, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrNewerFormat) {
		t.Errorf("got %v, want ErrNewerFormat", err)
	}
}

func TestOpenRefusesAFolderThatIsNotWhole(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"generation gone": func(dir string) error { return os.RemoveAll(filepath.Join(dir, "gen-1")) },
		"generation empty": func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "gen-1")), os.Mkdir(filepath.Join(dir, "gen-1"), 0o700))
		},
		"pointer damaged":   func(dir string) error { return os.WriteFile(filepath.Join(dir, currentFile), []byte("gen-x\n"), 0o600) },
		"pointer elsewhere": func(dir string) error { return os.WriteFile(filepath.Join(dir, currentFile), []byte("gen-7\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			if err := errors.Join(l.s.Close(), spoil(l.dir)); err != nil {
				t.Fatal(err)
			}
			if s, err := Open(l.dir, slog.New(slog.DiscardHandler)); err == nil {
				t.Error("it was opened as a new state", s.Close())
			}
		})
	}
}

func TestOpenRemovesUnfinishedInstalls(t *testing.T) {
	l := newLab(t)
	if err := os.MkdirAll(filepath.Join(l.dir, "gen-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.reopen()
	if _, err := os.Stat(filepath.Join(l.dir, "gen-2")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}

func TestCloseWithOpenViews(t *testing.T) {
	l := newLab(t)
	v, err := l.s.View()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.s.Close(), l.s.Close()); err != nil {
		t.Fatal(err)
	}
	if ns, err := v.Namespace(DefaultNamespace); err != nil || ns == nil {
		t.Errorf("an open view reads %+v, %v", ns, err)
	}
	v.Close()
	if _, err := l.s.View(); !errors.Is(err, ErrClosed) {
		t.Errorf("a view of a closed store: %v", err)
	}
	for name, err := range map[string]error{
		"apply":      applyNothing(l.s),
		"durable":    l.s.MakeDurable(),
		"checkpoint": l.s.Checkpoint(filepath.Join(t.TempDir(), "x")),
		"install":    l.s.Install(t.TempDir()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s on a closed store: %v", name, err)
		}
	}
}

func applyNothing(s *Store) error {
	_, err := s.Apply(99, 1, []int64{0}, [][]byte{nil})
	return err
}

func TestDurableStateSurvivesWithoutClose(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	added := l.add("a1", "one")
	if err := l.s.MakeDurable(); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "state") // what a crash would leave
	if err := os.CopyFS(dir, os.DirFS(l.dir)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	crashed := &lab{t: t, s: s, ns: DefaultNamespace}
	if e := crashed.get(added.ID); e == nil {
		t.Error("what was made durable is gone")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWaitForAnIndex(t *testing.T) {
	l := newLab(t)
	at, _ := l.s.Applied()
	done := make(chan error, 1)
	go func() { done <- l.s.Wait(context.Background(), at+1) }()
	l.agent("a1", "alice")
	if err := <-done; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.s.Wait(ctx, at+100); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// Readers run beside apply and installs; each sees one state.
func TestReadersBesideApplyAndInstall(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	added := l.add("a1", "one")
	dir := l.checkpoint()
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				v, err := l.s.View()
				if err != nil {
					t.Error(err)
					return
				}
				if ns, err := v.Namespace(DefaultNamespace); err != nil || ns == nil {
					t.Error(ns, err)
				} else if e, err := v.Experience(ns, added.ID); err != nil || e == nil {
					t.Error(e, err)
				}
				v.Close()
			}
		}()
	}
	for range 3 {
		for range 10 {
			l.do(KindReceipts, Receipts{[]Receipt{l.recall("a1", added.ID)}}, nil)
		}
		if err := l.s.Install(dir); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	readers.Wait()
}

func TestFeedIsReadStrictlyAfterACursor(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	l.add("a1", "one")
	l.report("a1", federation.One, l.add("a1", "two").ID)
	type at struct {
		index uint64
		sub   uint32
	}
	events := func(index uint64, sub uint32) (out []at) {
		l.read(func(v *View, ns *Namespace) {
			if err := v.Events(ns, index, sub, func(i uint64, s uint32, _ *Event) bool {
				out = append(out, at{i, s})
				return true
			}); err != nil {
				t.Fatal(err)
			}
		})
		return out
	}
	all := events(0, 0)
	if len(all) != 3 || all[0].sub != 1 {
		t.Fatalf("events at %v, want 3, the first at sub 1", all)
	}
	for i, e := range all {
		if rest := events(e.index, e.sub); len(rest) != len(all)-i-1 {
			t.Errorf("after %v: %v", e, rest)
		}
	}
}
