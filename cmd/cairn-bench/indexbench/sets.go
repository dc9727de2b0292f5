package indexbench

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// set is a number of unit vectors with queries that are not among them.
type set struct {
	name    string
	dims    int
	rows    [][]float32
	queries [][]float32
	truth   [][]uint32 // the nearest ten rows of each query
}

// perTopic is the number of rows of a topic in synthetic sets.
const perTopic = 50

// synthetic draws vectors the way texts lie: around topics, with a spectrum that falls with the root of the place.
func synthetic(name string, n, queries, dims int, seed uint64) *set {
	r := rand.New(rand.NewPCG(seed, uint64(dims)))
	noise := func() []float32 {
		v := make([]float32, dims)
		for i := range v {
			v[i] = float32(r.NormFloat64() / math.Sqrt(1+float64(i)/8))
		}
		return unit(v)
	}
	topics := make([][]float32, n/perTopic)
	for i := range topics {
		topics[i] = noise()
	}
	draw := func() []float32 {
		v := noise()
		for i, x := range topics[r.IntN(len(topics))] {
			v[i] = v[i]*.8 + x*.6
		}
		return unit(v)
	}
	s := &set{name: name, dims: dims}
	for range n {
		s.rows = append(s.rows, draw())
	}
	for range queries {
		s.queries = append(s.queries, draw())
	}
	return s
}

func unit(v []float32) []float32 {
	sum := 0.
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	size := float32(math.Sqrt(sum))
	for i := range v {
		v[i] /= size
	}
	return v
}

// readSet takes the first n rows of a file of vectors as rows and those behind them as queries.
func readSet(name, path string, n, queries, dims int) (*set, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) < 4*dims*(n+queries) {
		return nil, fmt.Errorf("%s has %d bytes, want %d rows of %d values", filepath.Base(path), len(data), n+queries, dims)
	}
	s := &set{name: name, dims: dims}
	for i := range n + queries {
		v := make([]float32, dims)
		for j := range v {
			v[j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*dims+j):]))
		}
		if v = unit(v); i < n {
			s.rows = append(s.rows, v)
		} else {
			s.queries = append(s.queries, v)
		}
	}
	return s, nil
}

// writeVectors writes vectors as a peer reads them.
func writeVectors(path string, vectors [][]float32) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var buf []byte
	for _, v := range vectors {
		buf = buf[:0]
		for _, x := range v {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		if _, err := f.Write(buf); err != nil {
			_ = f.Close()
			return err
		}
	}
	return f.Close()
}

// writeNumbers writes row numbers as a peer reads them, and readNumbers reads what it wrote.
func writeNumbers(path string, lists [][]uint32) error {
	var buf []byte
	for _, l := range lists {
		for _, x := range l {
			buf = binary.LittleEndian.AppendUint32(buf, x)
		}
	}
	return os.WriteFile(path, buf, 0o600)
}

func readNumbers(path string, lists int) ([][]uint32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if lists == 0 || len(data)%(4*lists) != 0 {
		return nil, fmt.Errorf("%s has %d bytes for %d lists", filepath.Base(path), len(data), lists)
	}
	out := make([][]uint32, lists)
	for i := range out {
		for l := len(data) / 4 / lists; len(out[i]) < l; {
			at := 4 * (i*l + len(out[i]))
			out[i] = append(out[i], binary.LittleEndian.Uint32(data[at:]))
		}
	}
	return out, nil
}
