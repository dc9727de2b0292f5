package indexbench

import (
	"bufio"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/index"
	"cairn/index/embed"
)

const (
	millionRows   = 1_000_000
	millionRecall = .95
)

// million measures a large pool: memory, loading, slowest searches.
func (b *bench) million() error {
	if b.o.Quick {
		return fmt.Errorf("%w: not in quick runs", errPeer)
	}
	s := synthetic("million", millionRows, 200, 384, b.o.Seed)
	for _, q := range s.queries {
		s.truth = append(s.truth, plainNearest(s.rows, q))
	}
	empty, err := anonymous()
	if err != nil {
		return err
	}
	pool := index.NewPoolIn(b.folder)
	defer func() { pool.Close() }()
	if err := fill(pool, s, false); err != nil {
		return err
	}
	documents, err := anonymous()
	if err != nil {
		return err
	}
	if err := fill(pool, s, true); err != nil {
		return err
	}
	start := time.Now()
	pool.Wait()
	b.note("bytes_per_row_1m: the graph took %.0f s more with one builder; a document without text and vector takes %d bytes",
		time.Since(start).Seconds(), (documents-empty)/millionRows)
	all, err := anonymous()
	if err != nil {
		return err
	}
	b.set("bytes_per_row_1m", []float64{float64(all-documents) / millionRows})
	s.rows = nil
	if err := b.slowest(pool, s); err != nil {
		return err
	}
	path := b.path("million.pool")
	if err := pool.SaveFile(path, index.Info{Generation: "bench"}, func(any) ([]byte, error) { return nil, nil }); err != nil {
		return err
	}
	pool.Close()
	pool = index.NewPool()
	return b.loading(path)
}

// fill puts a document for each row.
func fill(pool *index.Pool, s *set, vectors bool) error {
	for i, v := range s.rows {
		d := index.Doc{ID: strconv.Itoa(i)}
		if vectors {
			d.Vectors = []embed.Vector{{Embedder: benchEmbedder, Values: v}}
		}
		if err := pool.Put(d); err != nil {
			return err
		}
	}
	return nil
}

// benchEmbedder names the space of the vectors.
const benchEmbedder = "bench"

// slowest measures the 99th percentile of searches, and holds their recall against what is demanded.
func (b *bench) slowest(pool *index.Pool, s *set) error {
	var values []float64
	found := make([][]uint32, len(s.queries))
	for range rounds {
		var took []float64
		for i, q := range s.queries {
			start := time.Now()
			near, err := pool.Nearest(embed.Vector{Embedder: benchEmbedder, Values: q}, nearest, nil)
			if err != nil {
				return err
			}
			took = append(took, float64(time.Since(start).Microseconds())/1000)
			found[i] = found[i][:0]
			for _, n := range near {
				id, err := strconv.ParseUint(n.ID, 10, 32)
				if err != nil {
					return err
				}
				found[i] = append(found[i], uint32(id))
			}
		}
		slices.Sort(took)
		values = append(values, took[len(took)*99/100])
	}
	recall := recallOf(found, s.truth)
	if recall < millionRecall {
		b.note("search_1m_p99_ms is not given: recall %.3f among a million rows, %.2f is demanded", recall, millionRecall)
		return nil
	}
	b.note("search_1m_p99_ms: recall %.4f", recall)
	b.set("search_1m_p99_ms", values)
	return nil
}

// loading measures the loading of the pool's file.
func (b *bench) loading(path string) error {
	var values []float64
	for range 3 {
		debug.FreeOSMemory()
		start := time.Now()
		pool, _, err := index.LoadFile(path, func([]byte) (any, error) { return nil, nil })
		values = append(values, time.Since(start).Seconds())
		if err != nil {
			return err
		}
		if pool.Stats().Spaces[benchEmbedder].Graph != millionRows {
			return fmt.Errorf("the graph was not loaded")
		}
		pool.Close()
	}
	b.set("load_1m_s", values)
	return nil
}

// anonymous is the memory of this process that no file stands behind.
func anonymous() (int64, error) {
	debug.FreeOSMemory()
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			var kb int64
			_, err := fmt.Sscanf(strings.TrimSpace(v), "%d kB", &kb)
			return kb << 10, err
		}
	}
	return 0, fmt.Errorf("the system does not tell the anonymous memory")
}
