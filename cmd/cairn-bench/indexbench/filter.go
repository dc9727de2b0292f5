package indexbench

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/viterin/vek/vek32"

	"cairn/index/vector"
)

// filterQueries is the number of queries with a list each.
const filterQueries = 60

// plainNearest are the nearest rows by float32 values; ties fall by number.
func plainNearest(rows [][]float32, q []float32) []uint32 {
	cosines := make([]float32, len(rows))
	for i, v := range rows {
		cosines[i] = vek32.Dot(v, q)
	}
	var out []uint32
	for i, x := range cosines {
		if len(out) == nearest && x <= cosines[out[nearest-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(out, x, func(o uint32, x float32) int {
			if cosines[o] >= x {
				return -1
			}
			return 1
		})
		out = slices.Insert(out, at, uint32(i))
		out = out[:min(nearest, len(out))]
	}
	return out
}

// nearestOf are the k nearest of some rows.
func nearestOf(rows [][]float32, some []uint32, q []float32, k int) []uint32 {
	cosines := make([]float32, len(rows))
	for _, i := range some {
		cosines[i] = vek32.Dot(rows[i], q)
	}
	out := slices.Clone(some)
	slices.SortFunc(out, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(cosines[y], cosines[x]), cmp.Compare(x, y))
	})
	return out[:min(k, len(out))]
}

// filter compares searches among a share of the rows: once a random list, once the surroundings of a random row, far from
// most queries. Both sides are given the list and make of it what they search with. The row is the worse of the two.
func (b *bench) filter(row string, s *built, share float64) error {
	if !b.wanted(row) {
		return nil
	}
	n := int(share * float64(len(s.rows)))
	r := rand.New(rand.NewPCG(b.o.Seed, uint64(n)))
	all := make([]uint32, len(s.rows))
	for i := range all {
		all[i] = uint32(i)
	}
	part := &built{&set{name: s.name, dims: s.dims, rows: s.rows, queries: s.queries[:filterQueries]}, s.space}
	var worst *Row
	for _, kind := range []string{"random", "correlated"} {
		lists := make([][]uint32, filterQueries)
		part.truth = nil
		for i, q := range part.queries {
			if kind == "random" {
				r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				lists[i] = slices.Clone(all[:n])
			} else {
				lists[i] = nearestOf(s.rows, all, s.rows[r.IntN(len(s.rows))], n)
			}
			part.truth = append(part.truth, nearestOf(s.rows, lists[i], q, nearest))
		}
		if err := b.filterKind(row, part, kind, lists); err != nil {
			return err
		}
		if got := *b.row(row); worst == nil || got.Value < worst.Value {
			worst = &got
		}
	}
	*b.row(row) = *worst
	return nil
}

func (b *bench) filterKind(row string, s *built, kind string, lists [][]uint32) error {
	if err := writeNumbers(b.path("lists"), lists); err != nil {
		return err
	}
	allow := request{"allow": b.path("lists")}
	ef, reached, err := least(s.truth, filterBar, func(w int) ([][]uint32, float64, error) { return b.theirs(s, "hnswlib", w, allow) })
	if err != nil {
		return err
	}
	found, _, err := s.within(lists)
	if err != nil {
		return err
	}
	b.note("%s, %s: recall %.4f, theirs %.4f at %d", row, kind, recallOf(found, s.truth), reached, ef)
	return b.compare(row,
		func() (float64, error) { _, t, err := s.within(lists); return t, err },
		func() (float64, error) { _, t, err := b.theirs(s, "hnswlib", ef, allow); return t, err })
}

// within answers each query among its list.
func (s *built) within(lists [][]uint32) (found [][]uint32, seconds float64, err error) {
	found = make([][]uint32, len(s.queries))
	seconds, err = cpuTime(func() error {
		for i, q := range s.queries {
			allow := make(vector.Owners, len(s.rows)/64+1)
			for _, x := range lists[i] {
				allow = allow.Add(x)
			}
			m, err := s.space.Search(vector.Search{Values: q, K: nearest, Part: vector.AnyPart, Allow: allow})
			if err != nil {
				return err
			}
			found[i] = owners(m)
		}
		return nil
	})
	return found, seconds, err
}
