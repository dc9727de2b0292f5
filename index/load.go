package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/fxamacker/cbor/v2"

	"cairn/index/embed"
)

// Load reads a pool that Save wrote. decode turns the bytes of a Meta back. It returns ErrFile when anything in the file is
// damaged or missing: nothing of it is used then. Links that do not fit only cost a new build of the graph.
func Load(r io.Reader, decode func(meta []byte) (any, error)) (*Pool, Info, error) {
	var head [len(fileMagic) + 4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, Info{}, fmt.Errorf("%w: %w", ErrFile, err)
	}
	if string(head[:len(fileMagic)]) != fileMagic {
		return nil, Info{}, fmt.Errorf("%w: not an index file", ErrFile)
	}
	if v := binary.LittleEndian.Uint32(head[len(fileMagic):]); v != fileVersion {
		return nil, Info{}, fmt.Errorf("%w: version %d, want %d", ErrFile, v, fileVersion)
	}
	l := loader{pool: NewPool(), decode: decode, links: map[string][]byte{}}
	l.pool.hold = true
	if err := l.sections(r); err != nil {
		return nil, Info{}, err
	}
	l.release()
	return l.pool, l.info, nil
}

// LoadFile is Load from a file.
func LoadFile(path string, decode func(meta []byte) (any, error)) (*Pool, Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Info{}, fmt.Errorf("load pool: %w", err)
	}
	defer f.Close()
	return Load(bufio.NewReaderSize(f, 1<<20), decode)
}

type loader struct {
	pool   *Pool
	decode func([]byte) (any, error)
	info   Info
	links  map[string][]byte
	count  int // documents read; one that was put again while the file was written is there twice
}

// sections reads to the end section, behind which there must be nothing.
func (l *loader) sections(r io.Reader) error {
	for n := 0; ; n++ {
		kind, payload, err := readSection(r)
		if err != nil {
			return err
		}
		if (n == 0) != (kind == sectionHeader) {
			return fmt.Errorf("%w: section %d at place %d", ErrFile, kind, n)
		}
		switch kind {
		case sectionHeader:
			err = unmarshal(payload, &l.info)
		case sectionDocs:
			err = l.docs(payload)
		case sectionLinks:
			embedder, links, _ := bytes.Cut(payload, []byte{0})
			l.links[string(embedder)] = links
		case sectionEnd:
			return l.end(r, payload)
		default:
			err = fmt.Errorf("%w: unknown section %d", ErrFile, kind)
		}
		if err != nil {
			return err
		}
	}
}

func (l *loader) end(r io.Reader, payload []byte) error {
	var end storedEnd
	if err := unmarshal(payload, &end); err != nil {
		return err
	}
	if end.Docs != l.count {
		return fmt.Errorf("%w: %d documents, want %d", ErrFile, l.count, end.Docs)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return fmt.Errorf("%w: bytes behind the end", ErrFile)
	}
	return nil
}

func (l *loader) docs(payload []byte) error {
	var batch []storedDoc
	if err := unmarshal(payload, &batch); err != nil {
		return err
	}
	l.count += len(batch)
	for _, s := range batch {
		d := Doc{ID: s.ID, Fields: s.Fields, Vectors: make([]embed.Vector, len(s.Vectors))}
		for i, v := range s.Vectors {
			d.Vectors[i] = embed.Vector{Embedder: v.Embedder, Values: bytesFloat(v.Values)}
		}
		var err error
		if d.Meta, err = l.decode(s.Meta); err != nil {
			return fmt.Errorf("%w: meta of %q: %w", ErrFile, s.ID, err)
		}
		if err := l.pool.Put(d); err != nil {
			return fmt.Errorf("%w: %w", ErrFile, err)
		}
	}
	return nil
}

// release gives the spaces their links and lets them build what is missing.
func (l *loader) release() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pool.hold = false
	for id, s := range l.pool.spaces {
		// Links are only a saving: a space that refuses them builds its graph anew.
		_ = s.SetLinks(l.links[id])
	}
}

func unmarshal(payload []byte, into any) error {
	if err := cbor.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	return nil
}

func bytesFloat(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
