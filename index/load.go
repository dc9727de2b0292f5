package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"cairn/index/embed"
)

// Load reads a pool that Save wrote. decode turns the bytes of a Meta back. It returns ErrFile when anything in the file is
// damaged or missing: nothing of it is used then. Links that do not fit only cost a new build of the graph.
func Load(r io.Reader, decode func(meta []byte) (any, error)) (*Pool, Info, error) {
	return load(r, NewPool(), decode)
}

func load(r io.Reader, into *Pool, decode func(meta []byte) (any, error)) (*Pool, Info, error) {
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
	l := loader{pool: into, decode: decode, links: map[string][]byte{}}
	l.pool.hold = true
	if err := l.sections(r); err != nil {
		return nil, Info{}, err
	}
	l.release()
	return l.pool, l.info, nil
}

// LoadFile is Load from a file. The values of large spaces are mapped from files in the same folder; see NewPoolIn.
func LoadFile(path string, decode func(meta []byte) (any, error)) (*Pool, Info, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Info{}, fmt.Errorf("load pool: %w", err)
	}
	defer f.Close()
	return load(bufio.NewReaderSize(f, 1<<20), NewPoolIn(filepath.Dir(path)), decode)
}

type loader struct {
	pool   *Pool
	decode func([]byte) (any, error)
	info   Info
	links  map[string][]byte
	count  int // documents read; one that was put again while the file was written is there twice
}

// section is one section of a file, its documents already taken apart, or why there is none.
type section struct {
	kind    uint32
	payload []byte
	docs    []readyDoc
	err     error
}

// read sends the sections of a file to out, the last with an error or of kind sectionEnd. All that does not need the pool is done
// here, beside the building of the index: sums, decoding, checks. The buffer of documents is used again; other payloads are given away.
func (l *loader) read(r io.Reader, out chan<- section, stop <-chan struct{}) {
	var buffer []byte
	for {
		var s section
		s.kind, s.payload, s.err = readSection(r, buffer)
		buffer = nil
		if s.err == nil && s.kind == sectionDocs {
			s.docs, s.err = l.ready(s.payload)
			buffer, s.payload = s.payload, nil
		}
		select {
		case out <- s:
		case <-stop:
			return
		}
		if s.err != nil || s.kind == sectionEnd {
			return
		}
	}
}

// ready decodes a batch of documents and takes them apart.
func (l *loader) ready(payload []byte) ([]readyDoc, error) {
	var batch []storedDoc
	if err := unmarshal(payload, &batch); err != nil {
		return nil, err
	}
	docs := make([]readyDoc, len(batch))
	for i, s := range batch {
		d := Doc{ID: s.ID, Fields: s.Fields, Vectors: make([]embed.Vector, len(s.Vectors))}
		for i, v := range s.Vectors {
			d.Vectors[i] = embed.Vector{Embedder: v.Embedder, Values: v.Values}
		}
		var err error
		if d.Meta, err = l.decode(s.Meta); err != nil {
			return nil, fmt.Errorf("%w: meta of %q: %w", ErrFile, s.ID, err)
		}
		if docs[i], err = d.ready(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFile, err)
		}
	}
	return docs, nil
}

// sections reads to the end section, behind which there must be nothing.
func (l *loader) sections(r io.Reader) error {
	in, stop := make(chan section, 4), make(chan struct{})
	var reader sync.WaitGroup
	defer reader.Wait()
	defer close(stop)
	reader.Go(func() { l.read(r, in, stop) })
	for n := 0; ; n++ {
		s := <-in
		err := s.err
		if err != nil {
			return err
		}
		if (n == 0) != (s.kind == sectionHeader) {
			return fmt.Errorf("%w: section %d at place %d", ErrFile, s.kind, n)
		}
		switch s.kind {
		case sectionHeader:
			err = unmarshal(s.payload, &l.info)
		case sectionDocs:
			err = l.docs(s.docs)
		case sectionLinks:
			embedder, links, _ := bytes.Cut(s.payload, []byte{0})
			l.links[string(embedder)] = links
		case sectionEnd:
			return l.end(r, s.payload)
		default:
			err = fmt.Errorf("%w: unknown section %d", ErrFile, s.kind)
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

func (l *loader) docs(batch []readyDoc) error {
	l.count += len(batch)
	for _, d := range batch {
		if err := l.pool.putReady(d); err != nil {
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
