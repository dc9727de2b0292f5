package store

import (
	"errors"
	"log/slog"
	"testing"
)

// TestStateInMemory applies one log to a state on disk and to one in memory, cut differently, and compares hashes and reads.
func TestStateInMemory(t *testing.T) {
	w := newWalk(t, 23)
	w.run(400)
	s, err := OpenInMemory(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for at := 0; at < len(w.log); at += 7 {
		end := min(at+7, len(w.log))
		if _, err := s.Apply(uint64(at)+1, 1, w.times[at:end], w.log[at:end]); err != nil {
			t.Fatal(err)
		}
	}
	if _, got := s.Hash(); got != hashOf(w.s) {
		t.Errorf("in memory %x, on disk %x", got, hashOf(w.s))
	}
	v, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if problems := check(v); len(problems) > 0 {
		t.Error(problems)
	}
	w.read(func(disk *View, ns *Namespace) {
		for _, id := range w.seen {
			want, err := disk.Experience(ns, id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Experience(ns, id)
			if err != nil || (got == nil) != (want == nil) || got != nil && got.UpdatedAt != want.UpdatedAt {
				t.Errorf("experience %s: in memory %+v, on disk %+v, %v", id, got, want, err)
			}
		}
	})
	if err := s.Install(t.TempDir()); !errors.Is(err, errMemory) {
		t.Errorf("install over a state in memory: %v", err)
	}
}

func hashOf(s *Store) [32]byte {
	_, hash := s.Hash()
	return hash
}
