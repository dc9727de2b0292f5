package vector

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// mixedTime is how long TestMixed goes on: the time that CAIRN_MIXED gives, such as 60s, or ten seconds under the race detector.
func mixedTime(t *testing.T) time.Duration {
	t.Helper()
	given := os.Getenv("CAIRN_MIXED")
	switch {
	case given != "":
		d, err := time.ParseDuration(given)
		if err != nil {
			t.Fatalf("CAIRN_MIXED: %v", err)
		}
		return d
	case raceEnabled && !testing.Short():
		return 10 * time.Second
	}
	return 0
}

// TestMixed adds, removes, searches in every way and writes links while graphs are built, and built anew.
func TestMixed(t *testing.T) {
	const dims, writers, perWriter = 16, 3, 1500
	s := NewSpaceWith(Options{Dims: dims, GraphRows: 300})
	defer s.Close()
	end := time.Now().Add(mixedTime(t))
	more := func() bool { return time.Now().Before(end) }
	var all sync.WaitGroup
	for writer := range uint32(writers) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(writer), 5))
			rows := map[uint32]Row{}
			for i := 0; i < 3*perWriter || more(); i++ {
				owner := writer*perWriter + uint32(r.IntN(perWriter))
				if row, ok := rows[owner]; ok {
					if !s.Remove(row) {
						t.Errorf("row %d of owner %d was not there", row, owner)
					}
					delete(rows, owner)
					continue
				}
				v := randomUnit(r, dims)
				s.Reserve(owner, 1)
				row := mustAdd(t, s, v, owner)
				rows[owner] = row
				if i%8 == 0 {
					mixedFinds(t, s, v, owner)
				}
			}
			for _, row := range rows {
				s.Remove(row)
			}
		})
	}
	all.Go(func() {
		r := rand.New(rand.NewPCG(9, 9))
		for i := 0; i < 500 || more(); i++ {
			mixedSearch(t, s, r, i)
		}
	})
	all.Go(func() {
		for i := 0; i < 20 || more(); i++ {
			checkClosed(t, s.Links(func(row Row) (uint32, bool) { return uint32(row), row%7 != 0 }))
			s.Stats()
		}
	})
	all.Wait()
	s.Wait()
	if s.Len() != 0 || s.graph == nil {
		t.Fatalf("%d rows left, graph %v", s.Len(), s.graph)
	}
	free := slices.Clone(s.free)
	slices.Sort(free)
	if len(slices.Compact(free)) != len(s.free) || len(s.free)+s.graph.dead != len(s.rows) || s.graph.dead != s.graph.size || len(s.tail) != 0 {
		t.Errorf("%d rows, %d of them free; graph of %d, %d dead; tail of %d", len(s.rows), len(s.free), s.graph.size, s.graph.dead, len(s.tail))
	}
}

// mixedFinds looks for a row that was added a moment ago and that only the caller removes.
func mixedFinds(t *testing.T, s *Space, v []float32, owner uint32) {
	t.Helper()
	for name, search := range map[string]func(Search) ([]Match, error){"Search": s.Search, "Exact": s.Exact} {
		q := Search{Values: v, K: 3, Part: AnyPart}
		if name == "Search" {
			q.Allow = Owners{}.Add(owner) // among all, a walk may miss it once it is in the graph
		}
		got, err := search(q)
		if err != nil || len(got) == 0 || got[0].Owner != owner {
			t.Errorf("%s: owner %d is not found: %v, %v", name, owner, got, err)
		}
	}
}

func mixedSearch(t *testing.T, s *Space, r *rand.Rand, i int) {
	t.Helper()
	q := Search{Values: randomUnit(r, 16), K: 1 + r.IntN(20), Part: AnyPart}
	switch i % 4 {
	case 1:
		q.Accept = func(owner uint32) bool { return owner%3 == 0 }
	case 2:
		q.Allow = Owners{}
		for range 300 {
			q.Allow = q.Allow.Add(uint32(r.IntN(4500)))
		}
	}
	got, err := s.Search(q)
	if err != nil {
		t.Error(err)
	}
	for j, m := range got {
		if q.Accept != nil && !q.Accept(m.Owner) || q.Allow != nil && !q.Allow.Has(m.Owner) || j > 0 && m.Cosine > got[j-1].Cosine {
			t.Errorf("match %d of %v", j, got)
		}
	}
}

// checkClosed makes sure that links lead to rows of the same bytes that reach up as far.
func checkClosed(t *testing.T, data []byte) {
	t.Helper()
	if data == nil {
		return
	}
	type link struct {
		to    uint32
		layer int
	}
	r, layers := linkReader{b: data}, map[uint32]int{}
	var links []link
	count, entry := r.u32(), r.u32()
	for range count {
		row, n := r.u32(), r.u8()
		layers[row] = n
		for l := range n {
			for range r.u8() {
				links = append(links, link{r.u32(), l})
			}
		}
	}
	if r.bad || len(r.b) > 0 || count > 0 && layers[entry] == 0 || binary.LittleEndian.Uint32(data) != uint32(len(layers)) {
		t.Fatalf("%d rows, %d of them known, entry %d, %d bytes left", count, len(layers), entry, len(r.b))
	}
	for _, l := range links {
		if layers[l.to] <= l.layer {
			t.Fatalf("a link in layer %d leads to row %d with %d layers", l.layer, l.to, layers[l.to])
		}
	}
}

// TestReserve checks that nothing has to grow when what was reserved is added.
func TestReserve(t *testing.T) {
	s, r := NewSpace(8), rand.New(rand.NewPCG(3, 3))
	for i := range uint32(3 * arenaRows) {
		owner := i / 3
		s.Reserve(owner, 3)
		rows, arenas, first := cap(s.rows), len(s.arenas), cap(s.byOwner.first)
		if _, err := s.Add(randomUnit(r, 8), owner, uint8(i%3)); err != nil {
			t.Fatal(err)
		}
		if cap(s.rows) != rows || len(s.arenas) != arenas || cap(s.byOwner.first) != first {
			t.Fatalf("row %d: the space grew", i)
		}
	}
	if s.Len() != 3*arenaRows || len(s.arenas) > 4 {
		t.Errorf("%d rows in %d arenas", s.Len(), len(s.arenas))
	}
}
