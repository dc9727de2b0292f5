package indexbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Options of a run.
type Options struct {
	Peers    string // folder that peers/index.sh filled
	Rows     string // only rows whose name contains it, or one of several with commas between
	Quick    bool   // smaller sets, and no rows of a million
	Seed     uint64
	Progress func(text string)
}

// Wanted reports whether a row is to be measured.
func (o Options) Wanted(name string) bool {
	return slices.ContainsFunc(strings.Split(o.Rows, ","), func(part string) bool { return strings.Contains(name, part) })
}

// rounds alternate between the two sides.
const rounds = 5

// bench is a run under way.
type bench struct {
	ctx    context.Context
	o      Options
	folder string // for files between us and the peers
	python *peer
	golang *peer
	rows   []Row
	notes  []string
}

// Run measures all rows. A peer that cannot be had costs its rows, which say so.
func Run(ctx context.Context, o Options) (rows []Row, notes []string, err error) {
	folder, err := os.MkdirTemp("", "cairn-bench-index-")
	if err != nil {
		return nil, nil, err
	}
	b := &bench{ctx: ctx, o: o, folder: folder, rows: Rows()}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if b.python, err = startPython(ctx, o.Peers); err != nil && !errors.Is(err, errPeer) {
		return nil, nil, err
	}
	if b.golang, err = startGo(ctx, o.Peers); err != nil && !errors.Is(err, errPeer) {
		return nil, nil, err
	}
	if a, err := b.python.ask("versions", request{}); err == nil {
		b.note("peers: %v", a.Versions)
	}
	err = b.all()
	b.end(b.python, "python")
	b.end(b.golang, "go")
	return b.rows, b.notes, err
}

// end closes a peer. One that crashed has cost its rows already.
func (b *bench) end(p *peer, name string) {
	if err := p.close(); err != nil {
		b.note("the %s peer ended with %v", name, err)
	}
}

// fresh gives the Python peer a new process: libraries with threads and memory of their own do not get along in one.
func (b *bench) fresh() error {
	b.end(b.python, "python")
	var err error
	b.python, err = startPython(b.ctx, b.o.Peers)
	return err
}

// all runs the parts. An error of a peer is the reason of the rows of its part; any other ends the run.
func (b *bench) all() error {
	for _, part := range []struct {
		rows []string
		run  func() error
	}{
		{[]string{"search_100d_vs_hnswlib"}, b.words},
		{[]string{"search_384d_vs_hnswlib", "filter1_vs_hnswlib", "filter10_vs_hnswlib", "search_vs_usearch_f32", "search_vs_usearch_i8",
			"search_vs_faiss_hnsw", "search_vs_faiss_ivfpq", "batch_vs_usearch_f32", "batch_vs_usearch_i8", "batch_vs_faiss_hnsw",
			"batch_vs_faiss_ivfpq", "two_threads_vs_one", "mixed_read_p99_ratio"}, b.texts},
		{[]string{"build_vs_hnswlib"}, b.build},
		{[]string{"exact_vs_chromem", "exact_vs_sqlitevec"}, b.exact},
		{[]string{"exact_scan_vs_stream"}, b.stream},
		{[]string{"embed_en_60w_ms", "embed_zh_60w_ms", "embed_query_en_ms", "embed_query_zh_ms"}, b.embed},
		{[]string{"embed_vs_onnxruntime"}, b.onnx},
		{[]string{"keywords_vs_best"}, b.keywords},
		{[]string{"bytes_per_row_1m", "load_1m_s", "search_1m_p99_ms"}, b.million},
	} {
		if !slices.ContainsFunc(part.rows, b.wanted) {
			continue
		}
		b.o.Progress(strings.Join(part.rows, ", "))
		start := time.Now()
		err := b.fresh()
		if err == nil || errors.Is(err, errPeer) {
			err = part.run()
		}
		b.note("%s and what goes with it took %.0f s", part.rows[0], time.Since(start).Seconds())
		if err != nil && !errors.Is(err, errPeer) {
			return err
		}
		for _, name := range part.rows {
			if r := b.row(name); r.Value == 0 && r.NotRun == "" {
				r.NotRun = "left out"
				if err != nil {
					r.NotRun = err.Error()
				}
			}
		}
		if err := b.ctx.Err(); err != nil {
			return err
		}
	}
	for i := range b.rows {
		if b.rows[i].Value == 0 && b.rows[i].NotRun == "" {
			b.rows[i].NotRun = "not asked for"
		}
	}
	return nil
}

func (b *bench) wanted(name string) bool { return b.o.Wanted(name) }

func (b *bench) row(name string) *Row {
	for i := range b.rows {
		if b.rows[i].Name == name {
			return &b.rows[i]
		}
	}
	panic("no row " + name)
}

func (b *bench) set(name string, values []float64) {
	r := b.row(name)
	r.Low, r.Value, r.High = spread(values)
	b.o.Progress(fmt.Sprintf("%s %.3g (%.3g to %.3g)", name, r.Value, r.Low, r.High))
}

func (b *bench) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

func (b *bench) path(name string) string { return filepath.Join(b.folder, name) }

// compare runs the sides in turn and sets a row to the quotient of their times. The order changes from round to round.
func (b *bench) compare(name string, ours, theirs func() (seconds float64, err error)) error {
	if !b.wanted(name) {
		return nil
	}
	var values, mine, others []float64
	for i := range rounds {
		var own, other float64
		var err error
		if i%2 == 0 {
			own, err = ours()
		}
		if err == nil {
			other, err = theirs()
		}
		if err == nil && i%2 == 1 {
			own, err = ours()
		}
		if err != nil {
			b.row(name).NotRun = err.Error()
			return err
		}
		values, mine, others = append(values, other/own), append(mine, own), append(others, other)
	}
	b.set(name, values)
	_, own, _ := spread(mine)
	_, other, _ := spread(others)
	b.note("%s: %.3g s of ours, %.3g s of theirs", name, own, other)
	return nil
}

// cpuTime is the CPU time of f in this process, all threads together.
func cpuTime(f func() error) (float64, error) {
	before := processTime()
	err := f()
	return (processTime() - before).Seconds(), err
}

func processTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
