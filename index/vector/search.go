package vector

import "slices"

// AnyPart makes a search look at all rows of an owner.
const AnyPart = -1

// Search asks for the nearest rows to a vector.
type Search struct {
	Values []float32 // unit vector
	K      int       // number of owners; 0 or less: none
	Part   int       // only rows with this part number, or AnyPart
	// Accept decides whether an owner may be found. Nil accepts all. It is asked for owners whose rows would be among the best
	// found so far, and once for neighbouring rows of one owner. It must not call the space.
	Accept func(owner uint32) bool
	// Allow is the set of owners that may be found. Nil allows all, an empty set none. A set that is small beside the space is
	// searched by itself, exactly and in a time that follows its size; prefer it to Accept where it is at hand.
	Allow Owners
	// Width is the number of rows a walk through the graph keeps, half as many again with a filter: the more, the longer it
	// takes and the fewer rows it misses. 0: 96 up to 196,608 rows, then one for every 2,048, at most 512; at least K and a half.
	Width int
	// Before orders owners of equal cosine. Nil: by number. It must not call the space.
	Before func(a, b uint32) bool
}

// Search returns the K owners with the greatest cosine, best first, each with its best row. Cosines are those of the float32
// values. Up to some ten thousand rows the result is exact; beyond, owners may be missing (see Recall), but not such whose
// rows were added a moment ago.
func (s *Space) Search(q Search) ([]Match, error) { return s.search(q, true) }

// Exact is Search by scanning all rows, whatever their number.
func (s *Space) Exact(q Search) ([]Match, error) { return s.search(q, false) }

func (s *Space) search(q Search, walk bool) ([]Match, error) {
	if err := s.Check(q.Values); err != nil {
		return nil, err
	}
	if q.K <= 0 {
		return nil, nil
	}
	if q.Before == nil {
		q.Before = byNumber
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.live == 0 {
		return nil, nil
	}
	c := s.scannerLocked(q)
	defer s.done(c)
	if !haveKernels {
		return s.scanFloatLocked(c), nil
	}
	if !walk || !s.walkLocked(c) {
		s.scanLocked(c)
	}
	return s.rerankLocked(c), nil
}

func byNumber(a, b uint32) bool { return a < b }

// Recall asks for the k nearest owners of up to samples of its own rows, once as Search and once as Exact, and returns the
// share of the exact owners that Search found; 1 for an empty space. It is the self-check of the graph.
func (s *Space) Recall(samples, k int) float64 {
	found, want := 0, 0
	for _, v := range s.sample(samples) {
		q := Search{Values: v, K: k, Part: AnyPart}
		exact, err := s.Exact(q)
		got, err2 := s.Search(q)
		if err != nil || err2 != nil {
			continue
		}
		owners := make(map[uint32]bool, len(got))
		for _, m := range got {
			owners[m.Owner] = true
		}
		for _, m := range exact {
			want++
			if owners[m.Owner] {
				found++
			}
		}
	}
	if want == 0 {
		return 1
	}
	return float64(found) / float64(want)
}

// sample returns copies of up to n rows, spread evenly.
func (s *Space) sample(n int) [][]float32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out [][]float32
	for i := 0; i < len(s.rows) && n > 0; i += max(1, len(s.rows)/n) {
		if s.rows[i].live {
			out = append(out, slices.Clone(s.rowLocked(Row(i))))
		}
	}
	return out
}
