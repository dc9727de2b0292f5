package node

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"cairn/node/api"
)

// TestFolderOfAnEarlierVersion starts on a data folder that an earlier build of `cairn serve` left: an agent, and three
// lessons of its admin.
func TestFolderOfAnEarlierVersion(t *testing.T) {
	s := &site{t: t, dir: t.TempDir()}
	extract(t, "testdata/v1.tgz", s.dir)
	s.start()
	defer s.stop()
	if got := s.own(s.admin); len(got) != 3 {
		t.Fatalf("%d lessons, want 3", len(got))
	}
	answer, err := s.node.Recall(context.Background(), s.admin, api.RecallRequest{Task: "Door 2 is stuck", Mode: "search"})
	if err != nil || len(answer.Experiences) == 0 || answer.Experiences[0].Experience.Scenario != "Door 2 is stuck" {
		t.Errorf("recall: got %+v, %v", answer.Experiences, err)
	}
	s.add(s.admin, lesson(1), api.Write{})
}

// extract unpacks a .tgz of plain files and folders.
func extract(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
