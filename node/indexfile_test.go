package node

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"cairn/node/api"
	"cairn/node/store"
)

// fromFile counts the indexed documents of a pool that were read from its file.
func (s *site) fromFile() (read, all int) {
	f := s.node.index
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, e := range f.entries {
		if e.saved.id != (store.ID{}) {
			read++
		}
	}
	return read, len(f.entries)
}

// finds says which of the lessons a search for each of them finds first.
func (s *site) finds(c api.Caller, ids []string) {
	s.t.Helper()
	for i, id := range ids {
		got, err := s.node.Recall(context.Background(), c, api.RecallRequest{Task: lesson(i).Scenario, Mode: "search"})
		if err != nil {
			s.t.Fatal(err)
		}
		found := false
		for _, hit := range got.Experiences {
			found = found || hit.Experience.ID == id
		}
		if found != (id != "") {
			s.t.Errorf("lesson %d, %q, is found: %v", i, id, found)
		}
	}
}

func TestTheIndexIsKeptInFiles(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann", "alice")
	var ids []string
	for i := range 4 {
		ids = append(ids, s.add(ann, lesson(i), api.Write{}).Value.ID)
	}
	s.node.indexFiles.least = 1
	s.stop()
	s.start()
	if read, all := s.fromFile(); read != 4 || all != 4 {
		t.Errorf("%d of %d documents came from the file", read, all)
	}
	s.finds(ann, ids)

	// the file is older than the state: one lesson was changed since, one erased, one added
	changed := "an amended lesson about quite another matter"
	if _, err := s.node.PatchExperience(context.Background(), ann, ids[0], 1, api.PatchExperience{Content: &changed}, api.Write{}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.node.EraseExperience(context.Background(), ann, ids[1], 1, api.Write{}); err != nil || got.Status != http.StatusOK {
		t.Fatal(got, err)
	}
	ids = append(ids, s.add(ann, lesson(4), api.Write{}).Value.ID)
	s.node.indexFiles = nil // as a crash would
	s.stop()
	s.start()
	if read, all := s.fromFile(); read != 2 || all != 4 {
		t.Errorf("%d of %d documents came from the older file", read, all)
	}
	got, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Task: changed, Mode: "search"})
	if err != nil || len(got.Experiences) == 0 || got.Experiences[0].Experience.ID != ids[0] {
		t.Errorf("the changed lesson: %+v, %v", got.Experiences, err)
	}
	ids[1] = ""
	s.finds(ann, ids)
}

func TestADamagedIndexFileIsMadeAnew(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann", "alice")
	var ids []string
	for i := range 3 {
		ids = append(ids, s.add(ann, lesson(i), api.Write{}).Value.ID)
	}
	s.node.indexFiles.least = 1
	s.stop()
	files, err := filepath.Glob(filepath.Join(s.dir, "index", "*"+indexFileEnding))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v: %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start()
	if read, all := s.fromFile(); read != 0 || all != 3 {
		t.Errorf("%d of %d documents came from a damaged file", read, all)
	}
	s.finds(ann, ids)
	if _, err := os.Stat(files[0]); !os.IsNotExist(err) {
		t.Errorf("the damaged file is still there: %v", err)
	}
}
