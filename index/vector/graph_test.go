package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// clusters draws vectors the way texts lie: around topics, with directions of unequal weight.
type clusters struct {
	r       *rand.Rand
	centres [][]float32
	dims    int
}

func newClusters(r *rand.Rand, n, dims int) *clusters {
	c := &clusters{r: r, dims: dims}
	for range n {
		c.centres = append(c.centres, c.noise())
	}
	return c
}

func (c *clusters) noise() []float32 {
	v := make([]float32, c.dims)
	for i := range v {
		v[i] = float32(c.r.NormFloat64() / math.Sqrt(1+float64(i)/8))
	}
	return unitOf(v)
}

func unitOf(v []float32) []float32 {
	size := math.Sqrt(plain(v, v))
	for i := range v {
		v[i] = float32(float64(v[i]) / size)
	}
	return v
}

func (c *clusters) draw(topic int) []float32 {
	v := c.noise()
	for i, x := range c.centres[topic] {
		v[i] = v[i]*.8 + x*.6
	}
	return unitOf(v)
}

// graphSpace returns a space with a graph of n rows; owner i belongs to topic i%topics.
func graphSpace(t testing.TB, n, topics, dims int) (*Space, *clusters) {
	t.Helper()
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
	c := newClusters(rand.New(rand.NewPCG(1, 1)), topics, dims)
	s := NewSpace(dims)
	s.minGraph, s.walkCost, s.walkPart = 1000, 8, 1 // small spaces are to be walked too
	for i := range n {
		mustAdd(t, s, c.draw(i%topics), uint32(i))
	}
	s.Wait()
	return s, c
}

func mustAdd(t testing.TB, s *Space, v []float32, owner uint32) Row {
	t.Helper()
	row, err := s.Add(v, owner, 0)
	if err != nil {
		t.Error(err)
	}
	return row
}

// recall is the share of the exact owners that Search finds, over some queries.
func recall(t *testing.T, s *Space, queries int, draw func(i int) Search) float64 {
	t.Helper()
	found, want := 0, 0
	for i := range queries {
		q := draw(i)
		exact, err := s.Exact(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Search(q)
		if err != nil {
			t.Fatal(err)
		}
		owners := map[uint32]Match{}
		for j, m := range got {
			if _, twice := owners[m.Owner]; twice || j > 0 && m.Cosine > got[j-1].Cosine {
				t.Fatalf("matches are out of order or doubled: %v", got)
			}
			if q.Accept != nil && !q.Accept(m.Owner) {
				t.Fatalf("owner %d is not accepted", m.Owner)
			}
			owners[m.Owner] = m
		}
		for _, m := range exact {
			want++
			if g, ok := owners[m.Owner]; ok {
				found++
				if g != m {
					t.Fatalf("got %+v, want %+v", g, m)
				}
			}
		}
	}
	return float64(found) / float64(max(1, want))
}

func TestGraphRecall(t *testing.T) {
	s, c := graphSpace(t, 4000, 50, 64)
	if s.graph.size != 4000 || len(s.tail) != 0 {
		t.Fatalf("graph of %d rows, tail of %d", s.graph.size, len(s.tail))
	}
	near := func(i int) []float32 { return c.draw(i % 50) }
	for name, test := range map[string]struct {
		accept func(topic func() int) func(uint32) bool
		least  float64
	}{
		"all":               {func(func() int) func(uint32) bool { return nil }, .97},
		"half":              {func(func() int) func(uint32) bool { return func(o uint32) bool { return o%2 == 0 } }, .97},
		"one in a hundred":  {func(func() int) func(uint32) bool { return func(o uint32) bool { return o%101 == 0 } }, 1},
		"own topic":         {func(topic func() int) func(uint32) bool { return func(o uint32) bool { return int(o%50) == topic() } }, 1},
		"not the own topic": {func(topic func() int) func(uint32) bool { return func(o uint32) bool { return int(o%50) != topic() } }, .95},
		"half of the topics": {func(topic func() int) func(uint32) bool {
			return func(o uint32) bool { return (int(o%50)+25-topic())%50 < 25 }
		}, .95},
		"none": {func(func() int) func(uint32) bool { return func(uint32) bool { return false } }, 0},
	} {
		i := 0
		accept := test.accept(func() int { return i % 50 })
		got := recall(t, s, 60, func(n int) Search {
			i = n
			return Search{Values: near(n), K: 10, Part: AnyPart, Accept: accept}
		})
		t.Logf("%s: recall %.3f", name, got)
		if got < test.least {
			t.Errorf("%s: recall %.3f, want %.2f", name, got, test.least)
		}
	}
	walked := 0
	for i := range 60 {
		s.mu.RLock()
		if s.walkLocked(s.scannerLocked(Search{Values: near(i), K: 10, Part: AnyPart, Before: byNumber})) {
			walked++
		}
		s.mu.RUnlock()
	}
	if walked < 50 {
		t.Errorf("%d of 60 searches walked", walked)
	}
	if got := s.Recall(50, 10); got < .97 {
		t.Errorf("Recall() = %v", got)
	}
}

func TestWidths(t *testing.T) {
	for size, want := range map[int][2]int{0: {100, 96}, 100_000: {100, 96}, 200_000: {195, 97}, 250_000: {244, 122}, 1_000_000: {300, 488}, 4_000_000: {300, 512}} {
		if got := [2]int{buildWidth(size), walkWidth(size)}; got != want {
			t.Errorf("%d rows: widths %v, want %v", size, got, want)
		}
	}
}

func TestGraphTailAndDeletes(t *testing.T) {
	s, c := graphSpace(t, 3000, 20, 64)
	s.Close() // what is added now stays in the tail
	fresh := c.draw(3)
	row := mustAdd(t, s, fresh, 900000)
	got, err := s.Search(Search{Values: fresh, K: 1, Part: AnyPart})
	if err != nil || len(got) != 1 || got[0].Owner != 900000 {
		t.Errorf("a new row is not found: %v, %v", got, err)
	}
	if !s.Remove(row) {
		t.Error("remove")
	}
	got, err = s.Search(Search{Values: fresh, K: 1, Part: AnyPart})
	if err != nil || len(got) != 1 || got[0].Owner == 900000 {
		t.Errorf("a removed row is found: %v, %v", got, err)
	}
	for i := range Row(3000) {
		if i%3 != 0 {
			s.Remove(i)
		}
	}
	r := recall(t, s, 40, func(i int) Search {
		return Search{Values: c.draw(i % 20), K: 10, Part: AnyPart, Accept: func(o uint32) bool {
			if o%3 != 0 {
				t.Errorf("owner %d was removed", o)
			}
			return true
		}}
	})
	if r < .95 {
		t.Errorf("recall after deletes %.3f", r)
	}
}

func TestGraphIsRebuilt(t *testing.T) {
	s, c := graphSpace(t, 5000, 20, 64)
	defer s.Close()
	for i := range Row(5000) {
		if i%2 != 0 {
			s.Remove(i)
		}
	}
	s.Wait()
	s.mu.RLock()
	size, dead, free := s.graph.size, s.graph.dead, len(s.free)
	s.mu.RUnlock()
	if size-dead != 2500 || dead > size/4+1 || free < 1000 {
		t.Errorf("graph of %d rows, %d dead, %d free", size, dead, free)
	}
	for i := range 1000 {
		mustAdd(t, s, c.draw(i%20), uint32(100000+i))
	}
	s.Wait()
	if len(s.rows) > 5000 {
		t.Errorf("%d rows: places of removed ones are not used again", len(s.rows))
	}
	if r := recall(t, s, 40, func(i int) Search { return Search{Values: c.draw(i % 20), K: 10, Part: AnyPart} }); r < .97 {
		t.Errorf("recall %.3f", r)
	}
}

// TestGraphConcurrently adds, removes and searches while the graph is built: what was added is found at once.
func TestGraphConcurrently(t *testing.T) {
	s, c := graphSpace(t, 1500, 20, 64)
	defer s.Close()
	var lock sync.Mutex
	draw := func(i int) []float32 {
		lock.Lock()
		defer lock.Unlock()
		return c.draw(i % 20)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 150 {
				v, owner := draw(i), uint32(10000*(g+1)+i)
				row := mustAdd(t, s, v, owner)
				got, err := s.Search(Search{Values: v, K: 1, Part: AnyPart})
				if err != nil || len(got) != 1 || got[0].Cosine < .999 {
					t.Errorf("a row that was added is not found: %v, %v", got, err)
				}
				if i%2 == 0 {
					s.Remove(row)
					got, err = s.Search(Search{Values: v, K: 1, Part: AnyPart})
					if err != nil || len(got) == 1 && got[0].Owner == owner {
						t.Errorf("a removed row is found: %v, %v", got, err)
					}
				}
			}
		})
	}
	all.Wait()
	s.Wait()
	if s.Len() != 1500+4*75 || len(s.tail) != 0 {
		t.Errorf("%d rows, tail of %d", s.Len(), len(s.tail))
	}
	if r := recall(t, s, 40, func(i int) Search { return Search{Values: c.draw(i % 20), K: 10, Part: AnyPart} }); r < .97 {
		t.Errorf("recall %.3f", r)
	}
}

func TestGraphOfIdenticalRows(t *testing.T) {
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
	s := NewSpace(4)
	s.minGraph = 500
	defer s.Close()
	for owner := range uint32(3000) {
		mustAdd(t, s, []float32{.5, .5, .5, .5}, owner)
		s.Wait() // the graph is then the same each time
	}
	// The links of rows that are all alike do not hold together: a walk comes to some hundreds of them.
	for _, k := range []int{5, 100, 1000, 3000, math.MaxInt} {
		for _, every := range []uint32{1, 3} {
			q := Search{Values: []float32{1, 0, 0, 0}, K: k, Part: AnyPart}
			if every > 1 {
				q.Accept = func(owner uint32) bool { return owner%every == 0 }
			}
			seen := map[uint32]bool{}
			got, err := s.Search(q)
			for _, m := range got {
				seen[m.Owner] = true
			}
			if want := min(k, 3000/int(every)); err != nil || len(got) != want || len(seen) != want {
				t.Errorf("k %d, one in %d: %d found, %d of them different, %v, want %d", k, every, len(got), len(seen), err, want)
			}
		}
	}
}

// TestTwins puts thousands of rows that are all alike beside others, first, last and between, and looks for the others, and for the alike among
// few that are allowed. Links among the alike used to lead nowhere else: where they came first nothing else was found at all.
func TestTwins(t *testing.T) {
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
	const n = 6000
	for name, alike := range map[string]func(i int) bool{
		"none":    func(int) bool { return false },
		"first":   func(i int) bool { return i < n/2 || i%3 == 0 },
		"last":    func(i int) bool { return i >= n/2 },
		"between": func(i int) bool { return i%2 == 0 },
	} {
		c := newClusters(rand.New(rand.NewPCG(3, 9)), 50, 64)
		s, same := NewSpaceWith(Options{Dims: 64, GraphRows: 500}), c.draw(0)
		var twins []uint32
		for i := range uint32(n) {
			v := c.draw(int(i) % 50)
			if alike(int(i)) {
				v = same
				twins = append(twins, i)
			}
			mustAdd(t, s, v, i)
		}
		s.Wait()
		if r := recall(t, s, 100, func(i int) Search { return Search{Values: c.draw(1 + i%49), K: 10, Part: AnyPart} }); r < .97 {
			t.Errorf("%s: recall %.3f among the others", name, r)
		}
		checkTwins(t, s, name, same, twins)
		loaded, err := copyOf(t, s, func(b []byte) []byte { return b })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		loaded.Wait()
		checkTwins(t, loaded, name+", loaded", same, twins)
		for row := range Row(len(s.rows)) {
			if row%4 != 0 && s.rows[row].owner%4 != 0 {
				s.Remove(row)
			}
		}
		s.Wait()
		kept := slices.DeleteFunc(twins, func(owner uint32) bool { return owner%4 != 0 })
		checkTwins(t, s, name+", some removed", same, kept)
		s.Close()
		loaded.Close()
	}
}

// checkTwins looks for the owners of rows that are all alike.
func checkTwins(t *testing.T, s *Space, name string, values []float32, twins []uint32) {
	t.Helper()
	for _, k := range []int{1, 40, len(twins)} {
		if k > len(twins) || k == 0 {
			continue
		}
		got, err := s.Search(Search{Values: values, K: k, Part: AnyPart})
		if err != nil || len(got) != k || got[k-1].Cosine < .9999 {
			t.Errorf("%s: %d asked for, %d found, %v", name, k, len(got), err)
		}
		some := twins[:k]
		got, err = s.Search(Search{Values: values, K: k, Part: AnyPart, Accept: func(owner uint32) bool { return slices.Contains(some, owner) || owner%5 == 1 }})
		if err != nil || len(got) != k || got[k-1].Cosine < .9999 {
			t.Errorf("%s: %d asked for with a filter, %d found, %v", name, k, len(got), err)
		}
	}
}

// TestMoreThanGraphHolds asks for more rows than there are, some of them removed.
func TestMoreThanGraphHolds(t *testing.T) {
	s, c := graphSpace(t, 4000, 50, 64)
	s.Close()
	for row := range Row(900) {
		s.Remove(row)
	}
	for _, k := range []int{10, 2500, 3100, 3101, math.MaxInt} {
		got, err := s.Search(Search{Values: c.draw(1), K: k, Part: AnyPart})
		if want := min(k, 3100); err != nil || len(got) != want {
			t.Errorf("k %d: %d found, %v, want %d", k, len(got), err, want)
		}
	}
}

// TestShareIsNotInStep estimates filters that follow the order of the rows.
func TestShareIsNotInStep(t *testing.T) {
	s := NewSpace(2)
	for owner := range uint32(50000) {
		mustAdd(t, s, []float32{1, 0}, owner)
	}
	s.Close()
	for _, every := range []uint32{2, 10, 100, 195} {
		q := Search{Part: AnyPart, Accept: func(owner uint32) bool { return owner%every == 0 }}
		s.mu.RLock()
		got, want := s.shareLocked(q), 1/float64(every)
		s.mu.RUnlock()
		if got > 2*want+.01 || got < want/2-.01 {
			t.Errorf("every %d: share %.3f", every, got)
		}
	}
}

// copyOf adds the live rows of s to a new space in order and gives it the links.
func copyOf(t *testing.T, s *Space, change func([]byte) []byte) (*Space, error) {
	t.Helper()
	out, numbers := NewSpace(s.dims), map[Row]uint32{}
	out.minGraph = s.minGraph
	out.Hold()
	for i, l := range s.rows {
		if l.live {
			numbers[Row(i)] = uint32(mustAdd(t, out, s.Values(Row(i)), l.owner))
		}
	}
	links := s.Links(func(row Row) (uint32, bool) { to, ok := numbers[row]; return to, ok })
	return out, out.SetLinks(change(links))
}

func TestLinksAreKept(t *testing.T) {
	s, c := graphSpace(t, 3000, 20, 64)
	for i := range Row(300) {
		s.Remove(i * 3)
	}
	got, err := copyOf(t, s, func(b []byte) []byte { return b })
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if st := got.Stats(); st.Graph != 2700 || st.Tail != 0 {
		t.Errorf("%+v", st)
	}
	if r := recall(t, got, 40, func(i int) Search { return Search{Values: c.draw(i % 20), K: 10, Part: AnyPart} }); r < .97 {
		t.Errorf("recall %.3f", r)
	}
}

func TestDamagedLinks(t *testing.T) {
	s, _ := graphSpace(t, 1200, 20, 64)
	for name, change := range map[string]func([]byte) []byte{
		"cut":         func(b []byte) []byte { return b[:len(b)-3] },
		"longer":      func(b []byte) []byte { return append(b, 1) },
		"few bytes":   func(b []byte) []byte { return b[:5] },
		"entry":       func(b []byte) []byte { b[4], b[5] = 255, 255; return b },
		"row":         func(b []byte) []byte { b[10] = 255; return b },
		"layers":      func(b []byte) []byte { b[12] = 200; return b },
		"no layers":   func(b []byte) []byte { b[12] = 0; return b },
		"many links":  func(b []byte) []byte { b[13] = 255; return b },
		"link":        func(b []byte) []byte { b[16] = 255; return b },
		"count":       func(b []byte) []byte { b[0]++; return b },
		"empty graph": func([]byte) []byte { return make([]byte, 8) },
	} {
		got, err := copyOf(t, s, change)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		got.Wait()
		if st := got.Stats(); st.Graph != 1200 {
			t.Errorf("%s: the graph was not built anew: %+v", name, st)
		}
	}
}

func FuzzSetLinks(f *testing.F) {
	if !haveKernels {
		f.Skip("no kernels for this CPU")
	}
	s := NewSpace(4)
	s.minGraph = 4
	for owner := range uint32(6) {
		mustAdd(f, s, unitOf([]float32{1, float32(owner), 2, 3}), owner)
	}
	s.Wait()
	f.Add(s.Links(func(row Row) (uint32, bool) { return uint32(row), true }))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := NewSpace(4)
		got.minGraph = 1000
		got.Hold()
		for owner := range uint32(6) {
			mustAdd(t, got, unitOf([]float32{1, float32(owner), 2, 3}), owner)
		}
		if got.SetLinks(data) == nil {
			if _, err := got.Search(Search{Values: []float32{1, 0, 0, 0}, K: 3, Part: AnyPart}); err != nil {
				t.Fatal(err)
			}
		}
		got.Close()
	})
}
