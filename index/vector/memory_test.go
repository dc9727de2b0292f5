package vector

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// TestLargeSpaces goes beyond the arenas of the heap, with the values in memory and in a file, and compares the two.
func TestLargeSpaces(t *testing.T) {
	const dims, n = 16, (heapArenas + 2) * arenaRows
	folder := t.TempDir()
	spaces := []*Space{NewSpace(dims), NewSpaceWith(Options{Dims: dims, Folder: folder}), NewSpaceWith(Options{Dims: dims, Folder: filepath.Join(folder, "missing")})}
	r := rand.New(rand.NewPCG(1, 3))
	for i := range n {
		v := randomUnit(r, dims)
		for _, s := range spaces {
			mustAdd(t, s, v, uint32(i))
		}
	}
	if runtime.GOOS == "linux" && (spaces[1].Stats().Mapped == 0 || spaces[0].Stats().Mapped != 0 || spaces[2].Stats().Mapped != 0) {
		t.Errorf("mapped: %+v, %+v, %+v", spaces[0].Stats(), spaces[1].Stats(), spaces[2].Stats())
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
	for range 20 {
		q := Search{Values: randomUnit(r, dims), K: 7, Part: AnyPart}
		want, err := spaces[0].Search(q)
		if err != nil || len(want) != 7 {
			t.Fatalf("%v, %v", want, err)
		}
		for _, s := range spaces[1:] {
			if got, err := s.Search(q); err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, %v, want %v", got, err, want)
			}
		}
	}
	for _, row := range []Row{0, spillArenas*arenaRows - 1, spillArenas * arenaRows, n - 1} {
		if !slices.Equal(spaces[0].Values(row), spaces[1].Values(row)) {
			t.Errorf("row %d has other values in the file", row)
		}
	}
}

// TestAllow compares sets of owners with functions that say the same, by list, scan and walk.
func TestAllow(t *testing.T) {
	s, c := graphSpace(t, 4000, 50, 64)
	for _, every := range []uint32{1, 2, 3, 10, 101, 5000} {
		allow := Owners{}
		for owner := uint32(0); owner < 4000; owner += every {
			allow = allow.Add(owner)
		}
		if want := (4000 + int(every) - 1) / int(every); allow.Len() != want || allow.Has(4000) {
			t.Errorf("%d owners, want %d", allow.Len(), want)
		}
		for i := range 30 {
			set := Search{Values: c.draw(i), K: 10, Part: AnyPart, Allow: allow}
			function := set
			function.Allow, function.Accept = nil, func(owner uint32) bool { return owner%every == 0 }
			want, err := s.Exact(function)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Exact(set); err != nil || !slices.Equal(got, want) {
				t.Fatalf("one in %d: got %v, %v, want %v", every, got, err, want)
			}
			if got, err := s.Search(set); err != nil || len(got) != len(want) {
				t.Fatalf("one in %d: got %v, %v, want %v", every, got, err, want)
			}
		}
	}
	got, err := s.Search(Search{Values: c.draw(0), K: 10, Part: AnyPart, Allow: Owners{}})
	if err != nil || len(got) != 0 {
		t.Errorf("the empty set: %v, %v", got, err)
	}
}

// TestKeyOrder checks that keys order by score, then by row, and give both back.
func TestKeyOrder(t *testing.T) {
	scores := []float32{1, .5, 1e-30, 0, -1e-30, -.5, -1}
	var last key
	for i, x := range scores {
		for row := range uint32(3) {
			k := keyOf(x, row)
			if k.score() != x || k.row() != Row(row) || (k|gone).row() != Row(row) {
				t.Errorf("%v, %d: %v, %d", x, row, k.score(), k.row())
			}
			if (i > 0 || row > 0) && k <= last {
				t.Errorf("%v, %d does not lie behind the one before", x, row)
			}
			last = k
		}
	}
}

// TestRowsOfOwners checks the rows of owners with several, some of them removed, and with scattered numbers.
func TestRowsOfOwners(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, far := range []uint32{0, 1 << 22} {
		s := NewSpace(8)
		var rows []Row
		for i := range uint32(900) {
			row, err := s.Add(randomUnit(r, 8), far+i/3, uint8(i%3))
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		for range 400 {
			s.Remove(rows[r.IntN(len(rows))])
		}
		if s.byOwner.scattered != (far > 0) {
			t.Fatal("scattered")
		}
		allow := Owners(nil)
		for i := uint32(0); i < 300; i += 10 {
			allow = allow.Add(far + i)
		}
		for range 20 {
			q := Search{Values: randomUnit(r, 8), K: 30, Part: AnyPart, Accept: allow.Has}
			want, err := s.Search(q)
			if err != nil {
				t.Fatal(err)
			}
			q.Accept, q.Allow = nil, allow
			if got, err := s.Search(q); err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, %v, want %v", got, err, want)
			}
		}
	}
}
