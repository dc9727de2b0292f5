package indexbench

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"cairn/index/vector"
)

const (
	nearest     = 10
	recallBar   = .96
	filterBar   = .99
	linksPeer   = 16 // of a row in upper layers; twice as many at the base, as we have
	widthBuild  = 100
	wordRows    = 100_000
	textRows    = 100_000
	quickRows   = 40_000
	queriesFull = 1000
)

// widths are tried in turn until the recall is reached.
var widths = []int{10, 14, 18, 22, 26, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 115, 130, 150, 175, 200, 250, 300, 400, 600, 800}

// built is a set in our index, with its truth, and as a peer reads it.
type built struct {
	*set
	space *vector.Space
}

// open puts a set into a space with a graph, computes the truth and hands the set to the Python peer.
func (b *bench) open(s *set) (*built, error) {
	out := &built{s, vector.NewSpace(s.dims)}
	for i, v := range s.rows {
		if _, err := out.space.Add(v, uint32(i), 0); err != nil {
			return nil, err
		}
	}
	out.space.Wait()
	for _, q := range s.queries {
		found, err := out.space.Exact(vector.Search{Values: q, K: nearest, Part: vector.AnyPart})
		if err != nil {
			return nil, err
		}
		s.truth = append(s.truth, owners(found))
	}
	return out, b.hand(s)
}

// hand gives a set to the Python peer.
func (b *bench) hand(s *set) error {
	if err := writeVectors(b.path(s.name), s.rows); err != nil {
		return err
	}
	if err := writeVectors(b.path(s.name+".queries"), s.queries); err != nil {
		return err
	}
	return b.load(s)
}

// load makes the Python peer read a set that it was given.
func (b *bench) load(s *set) error {
	_, err := b.python.ask("load", request{"set": s.name, "dims": s.dims, "rows": b.path(s.name), "queries": b.path(s.name + ".queries")})
	return err
}

func owners(found []vector.Match) []uint32 {
	out := make([]uint32, len(found))
	for i, m := range found {
		out[i] = m.Owner
	}
	return out
}

func recallOf(found, truth [][]uint32) float64 {
	hits, want := 0, 0
	for i, t := range truth {
		for _, x := range t {
			want++
			if slices.Contains(found[i], x) {
				hits++
			}
		}
	}
	return float64(hits) / float64(want)
}

// search answers all queries one by one on this thread.
func (s *built) search(width int) (found [][]uint32, seconds float64, err error) {
	found = make([][]uint32, len(s.queries))
	seconds, err = cpuTime(func() error {
		for i, q := range s.queries {
			m, err := s.space.Search(vector.Search{Values: q, K: nearest, Part: vector.AnyPart, Width: width})
			if err != nil {
				return err
			}
			found[i] = owners(m)
		}
		return nil
	})
	return found, seconds, err
}

// theirs answers all queries by a peer.
func (b *bench) theirs(s *built, lib string, ef int, more request) (found [][]uint32, seconds float64, err error) {
	r := request{"lib": lib, "set": s.name, "k": nearest, "ef": ef, "n": len(s.queries), "out": b.path("found"), "factor": 20}
	for k, v := range more {
		r[k] = v
	}
	a, err := b.python.ask("search", r)
	if err != nil {
		return nil, 0, err
	}
	found, err = readNumbers(b.path("found"), len(s.queries))
	return found, a.Seconds, err
}

// least is the smallest width at which search reaches a recall, or comes within nearlyAll of the most that it reaches: a width
// beyond that buys nothing, and would hold its side back.
func least(truth [][]uint32, bar float64, search func(width int) ([][]uint32, float64, error)) (width int, recall float64, err error) {
	var recalls []float64
	for i, w := range widths {
		found, _, err := search(w)
		if err != nil {
			return 0, 0, err
		}
		recalls = append(recalls, recallOf(found, truth))
		if recalls[i] >= bar {
			return w, recalls[i], nil
		}
		if i >= flatWidths && recalls[i]-recalls[i-flatWidths] < nearlyAll {
			break
		}
	}
	most := slices.Max(recalls)
	i := slices.IndexFunc(recalls, func(r float64) bool { return r >= most-nearlyAll })
	return widths[i], recalls[i], nil
}

// A side whose recall rises by less than nearlyAll over so many widths has reached what it can.
const (
	nearlyAll  = .002
	flatWidths = 6
)

// against compares searches with those of a peer that reaches the recall demanded, or as much as it can; ours is no less than its.
func (b *bench) against(row string, s *built, lib string, more request) error {
	if !b.wanted(row) {
		return nil
	}
	ef, reached, err := least(s.truth, recallBar, func(w int) ([][]uint32, float64, error) { return b.theirs(s, lib, w, more) })
	if err != nil {
		return err
	}
	width, recall, err := least(s.truth, reached, s.search)
	if err != nil {
		return err
	}
	if recall < reached {
		return fmt.Errorf("%s: our recall is %.3f", row, recall)
	}
	b.note("%s: recall %.4f at width %d, theirs %.4f at %d, %d rows, %d queries", row, recall, width, reached, ef, len(s.rows), len(s.queries))
	return b.compare(row,
		func() (float64, error) { _, t, err := s.search(width); return t, err },
		func() (float64, error) { _, t, err := b.theirs(s, lib, ef, more); return t, err })
}

func (b *bench) words() error {
	s, err := readSet("words", filepath.Join(b.o.Peers, "wink.f32"), wordRows, queriesFull, 100)
	if err != nil {
		return fmt.Errorf("%w: %w", errPeer, err)
	}
	o, err := b.open(s)
	if err != nil {
		return err
	}
	defer o.space.Close()
	if _, err := b.python.ask("build", request{"lib": "hnswlib", "set": s.name, "m": linksPeer, "ef": widthBuild}); err != nil {
		return err
	}
	return b.against("search_100d_vs_hnswlib", o, "hnswlib", nil)
}

// texts are the rows on synthetic vectors of 384 values.
func (b *bench) texts() error {
	n := textRows
	if b.o.Quick {
		n = quickRows
	}
	s, err := b.open(synthetic("texts", n, queriesFull, 384, b.o.Seed))
	if err != nil {
		return err
	}
	defer s.space.Close()
	if err := b.threads(s); err != nil {
		return err
	}
	if err := b.mixed(s); err != nil {
		return err
	}
	for _, p := range []struct {
		lib  string
		more request
		rows []string
	}{
		{"hnswlib", nil, []string{"search_384d_vs_hnswlib", "filter1_vs_hnswlib", "filter10_vs_hnswlib"}},
		{"usearch_f32", request{"dtype": "f32"}, []string{"search_vs_usearch_f32", "batch_vs_usearch_f32"}},
		{"usearch_i8", request{"dtype": "i8"}, []string{"search_vs_usearch_i8", "batch_vs_usearch_i8"}},
		{"faiss_hnsw", nil, []string{"search_vs_faiss_hnsw", "batch_vs_faiss_hnsw"}},
		{"faiss_ivfpq", request{"lists": 1024}, []string{"search_vs_faiss_ivfpq", "batch_vs_faiss_ivfpq"}},
	} {
		if !slices.ContainsFunc(p.rows, b.wanted) {
			continue
		}
		if err := errors.Join(b.fresh(), b.load(s.set)); err != nil {
			return err
		}
		r := request{"lib": p.lib, "set": s.name, "m": linksPeer, "ef": widthBuild}
		for k, v := range p.more {
			r[k] = v
		}
		a, err := b.python.ask("build", r)
		for _, row := range p.rows {
			if err == nil {
				err = b.rowOf(row, s, p.lib)
			}
			if err != nil {
				b.row(row).NotRun = err.Error()
			}
		}
		b.note("%s: built in %.3g s of CPU", p.lib, a.Seconds)
	}
	return nil
}

func (b *bench) rowOf(row string, s *built, lib string) error {
	switch row {
	case "filter1_vs_hnswlib":
		return b.filter(row, s, .01)
	case "filter10_vs_hnswlib":
		return b.filter(row, s, .1)
	case "batch_vs_usearch_f32", "batch_vs_usearch_i8", "batch_vs_faiss_hnsw", "batch_vs_faiss_ivfpq":
		return b.against(row, s, lib, request{"batch": true})
	}
	return b.against(row, s, lib, nil)
}

// build compares the building of graphs, on a part of the rows so that each side can be built in every round.
func (b *bench) build() error {
	n := 20_000
	if b.o.Quick {
		n = 10_000
	}
	s := synthetic("build", n, queriesFull, 384, b.o.Seed+1)
	if err := b.hand(s); err != nil {
		return err
	}
	for _, q := range s.queries {
		s.truth = append(s.truth, plainNearest(s.rows, q))
	}
	var o *built
	const width = 40
	err := b.compare("build_vs_hnswlib", func() (float64, error) {
		o = &built{s, vector.NewSpaceWith(vector.Options{Dims: s.dims, GraphRows: n})}
		return cpuTime(func() error {
			for i, v := range s.rows {
				if _, err := o.space.Add(v, uint32(i), 0); err != nil {
					return err
				}
			}
			o.space.Wait()
			return nil
		})
	}, func() (float64, error) {
		a, err := b.python.ask("build", request{"lib": "hnswlib", "set": s.name, "m": linksPeer, "ef": widthBuild})
		return a.Seconds, err
	})
	if err != nil {
		return err
	}
	defer o.space.Close()
	mine, _, err := o.search(width)
	if err != nil {
		return err
	}
	other, _, err := b.theirs(o, "hnswlib", width, nil)
	if err != nil {
		return err
	}
	b.note("build_vs_hnswlib: %d rows; recall@10 at width %d is %.4f, theirs %.4f", n, width, recallOf(mine, s.truth), recallOf(other, s.truth))
	return nil
}
