package retrievaleval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
)

// Options of a run.
type Options struct {
	Data     string // folder of the data sets
	Seed     uint64
	Embedder Embedder
	Progress func(text string)
}

// run is a run under way.
type run struct {
	o     Options
	rows  []Row
	notes []string
	sets  []*loaded
	least float64 // of fused minus keywords
	keeps float64
}

// Run measures the rows that the folder has data for; the notes name the others.
func Run(ctx context.Context, o Options) (rows []Row, notes []string, err error) {
	r := &run{o: o, least: math.Inf(1), keeps: 1}
	for _, x := range sets {
		s, err := load(o.Data, x.name)
		if errors.Is(err, os.ErrNotExist) {
			r.note("%s left out: no data", x.name)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		o.Progress(x.name)
		l, err := s.fill(ctx, o.Embedder)
		if err != nil {
			return nil, nil, err
		}
		if err := r.measure(ctx, l); err != nil {
			return nil, nil, err
		}
		r.sets = append(r.sets, l)
	}
	if len(r.sets) == 0 {
		return nil, r.notes, nil
	}
	r.set("fused_minus_keywords_min", r.least)
	r.set("floor_keeps", r.keeps)
	o.Progress("texts without sense")
	for name, own := range map[string]bool{"nonsense_empty": false, "nonsense_own_empty": true} {
		share, err := r.nonsense(ctx, own)
		if err != nil {
			return nil, nil, err
		}
		r.set(name, share)
	}
	return r.rows, r.notes, nil
}

func (r *run) set(name string, value float64) {
	for _, x := range Rows() {
		if x.Name == name {
			x.Value = value
			r.rows = append(r.rows, x)
		}
	}
}

func (r *run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// measure asks the questions of a set in all ways.
func (r *run) measure(ctx context.Context, l *loaded) error {
	by, line := map[string]recall{}, fmt.Sprintf("%s, %d questions, recall at %d/%d:", l.name, len(l.questions), l.at[0], l.at[1])
	for _, a := range arms {
		got, err := l.measure(ctx, a)
		if err != nil {
			return err
		}
		by[a.name] = got
		line += fmt.Sprintf(" %s %.3f/%.3f", a.name, got[0], got[1])
	}
	r.note("%s", line)
	for i, at := range l.at {
		r.set(fmt.Sprintf("%s_fused_r%d", l.name, at), by["fused"][i])
		r.set(fmt.Sprintf("%s_keywords_r%d", l.name, at), by["keywords"][i])
		r.set(fmt.Sprintf("%s_r%d", l.name, at), by["fused"][i])
		r.least = min(r.least, by["fused"][i]-by["keywords"][i])
	}
	for _, t := range tables {
		if t.set == l.name {
			r.set(t.set+"_short", t.short(by))
		}
	}
	kept, err := l.kept(ctx)
	r.keeps = min(r.keeps, kept)
	r.note("%s: %.3f of what belongs and is among the first five lies above the floor", l.name, kept)
	return err
}

// saladCount is the number of texts without sense, half of them in each language.
const saladCount = 500

// nonsense returns the share of texts without sense that find nothing. own: of words of the questions of all sets of the language; otherwise each set is
// asked in words of the texts of the others.
func (r *run) nonsense(ctx context.Context, own bool) (float64, error) {
	empty, asked := 0, 0
	for _, han := range []bool{false, true} {
		var group []*loaded
		for _, l := range r.sets {
			if han == (strings.HasSuffix(l.name, "_cn") || strings.HasSuffix(l.name, "_zh")) {
				group = append(group, l)
			}
		}
		for i, l := range group {
			words := wordsOf(group, l, own, han)
			if len(words) == 0 {
				r.note("texts without sense are not asked of %s: there is no other set of its language", l.name)
				continue
			}
			texts := salads(rand.New(rand.NewPCG(r.o.Seed, uint64(i))), words, han, saladCount/2/len(group))
			n, err := l.empty(ctx, r.o.Embedder, texts)
			if err != nil {
				return 0, err
			}
			empty, asked = empty+n, asked+len(texts)
			r.note("texts without sense, own words %v, %s: %d of %d find nothing", own, l.name, n, len(texts))
		}
	}
	return float64(empty) / float64(max(1, asked)), nil
}
