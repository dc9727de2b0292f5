package vector

import (
	"slices"
	"testing"
)

// TestFilteredWalk compares walks among wanted rows with the exact answer: rows of a random set, of some topics, and of a
// region far from the query, by set and by function.
func TestFilteredWalk(t *testing.T) {
	const n, topics, searches = 6000, 60, 40
	s, c := graphSpace(t, n, topics, 64)
	region := func(i int) Owners {
		near, err := s.Exact(Search{Values: c.draw((i + topics/2) % topics), K: n / 4, Part: AnyPart})
		if err != nil {
			t.Fatal(err)
		}
		var o Owners
		for _, m := range near {
			o = o.Add(m.Owner)
		}
		return o
	}
	some := func(wanted func(owner int) bool) (o Owners) {
		for owner := range n {
			if wanted(owner) {
				o = o.Add(uint32(owner))
			}
		}
		return o
	}
	for name, allow := range map[string]func(i int) Owners{
		"half":        func(int) Owners { return some(func(owner int) bool { return c.r.IntN(2) == 0 }) },
		"a fifth":     func(int) Owners { return some(func(owner int) bool { return c.r.IntN(5) == 0 }) },
		"near topics": func(i int) Owners { return some(func(owner int) bool { return (owner-i+topics)%topics < topics/4 }) },
		"far topics":  func(i int) Owners { return some(func(owner int) bool { return (owner-i+topics/2)%topics < topics/4 }) },
		"far region":  region,
	} {
		found, want, walked := 0, 0, 0
		for i := range searches {
			set := Search{Values: c.draw(i % topics), K: 10, Part: AnyPart, Width: 48, Allow: allow(i), Before: byNumber}
			function := set
			function.Allow, function.Accept = nil, set.Allow.Has
			exact, err := s.Exact(set)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range []Search{set, function} {
				got, ok := s.walked(q)
				if !ok {
					continue
				}
				walked++
				want += len(exact)
				for _, m := range got {
					if !set.Allow.Has(m.Owner) {
						t.Fatalf("%s: owner %d is not allowed", name, m.Owner)
					}
					if slices.Contains(exact, m) {
						found++
					}
				}
			}
		}
		t.Logf("%s: recall %.4f, %d of %d searches walked", name, float64(found)/float64(want), walked, 2*searches)
		if float64(found) < .96*float64(want) || walked < searches {
			t.Errorf("%s: recall %.4f, %d of %d searches walked", name, float64(found)/float64(want), walked, 2*searches)
		}
	}
}

// walked searches by a walk alone; ok is false where Search would scan.
func (s *Space) walked(q Search) (found []Match, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.scannerLocked(q)
	defer s.done(c)
	if !s.walkLocked(c) {
		return nil, false
	}
	return s.rerankLocked(c), true
}

// TestFilteredWalkEnds looks for rows that no link leads to: a walk that runs dry leaves the search to the scan.
func TestFilteredWalkEnds(t *testing.T) {
	s, c := graphSpace(t, 3000, 20, 64)
	for row := range s.graph.base[0].links {
		s.graph.base[0].links[row][0] = noRow
	}
	q := Search{Values: c.draw(0), K: 10, Part: AnyPart, Accept: func(owner uint32) bool { return owner < arenaRows }, Before: byNumber}
	want, err := s.Exact(q)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.walked(q); ok {
		t.Error("the walk found as many rows as it looks for")
	}
	if got, err := s.Search(q); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
