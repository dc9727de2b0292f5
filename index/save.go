package index

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cairn/index/vector"
)

// Save writes the pool to w. encode turns a Meta into bytes. Others may use the pool meanwhile: take info.Watermark before
// calling Save, since documents changed during it may be in the file in either state, and replaying the changes behind the
// watermark sets that right.
func (p *Pool) Save(w io.Writer, info Info, encode func(meta any) ([]byte, error)) error {
	if _, err := io.WriteString(w, fileMagic); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := binary.Write(w, binary.LittleEndian, uint32(fileVersion)); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := writeCBOR(w, sectionHeader, info); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	s := saver{pool: p, encode: encode, numbers: map[*vector.Space]*numbering{}}
	if err := s.docs(w); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := s.links(w); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := writeCBOR(w, sectionEnd, storedEnd{Docs: s.count}); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	return nil
}

// SaveFile is Save to a file, which is replaced as a whole or not at all: it is written beside it, synced and renamed.
func (p *Pool) SaveFile(path string, info Info, encode func(meta any) ([]byte, error)) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	if err := p.Save(w, info, encode); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("save pool: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// saver numbers the rows of each space in the order in which loading will add them.
type saver struct {
	pool    *Pool
	encode  func(meta any) ([]byte, error)
	numbers map[*vector.Space]*numbering
	count   int
}

type numbering struct {
	embedder string
	next     uint32
	of       map[vector.Row]uint32
}

// docs writes all documents, batchDocs under one lock.
func (s *saver) docs(w io.Writer) error {
	for first, more := 0, true; more; first += batchDocs {
		var batch []storedDoc
		var err error
		batch, more, err = s.batch(first)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			continue
		}
		s.count += len(batch)
		if err := writeCBOR(w, sectionDocs, batch); err != nil {
			return err
		}
	}
	return nil
}

func (s *saver) batch(first int) (batch []storedDoc, more bool, err error) {
	s.pool.mu.RLock()
	defer s.pool.mu.RUnlock()
	end := min(first+batchDocs, len(s.pool.docs))
	for i := first; i < end; i++ {
		r := &s.pool.docs[i]
		if r.id == "" {
			continue
		}
		meta, err := s.encode(r.meta)
		if err != nil {
			return nil, false, fmt.Errorf("meta of %q: %w", r.id, err)
		}
		d := storedDoc{ID: r.id, Meta: meta, Fields: r.fields, Vectors: make([]storedVector, len(r.rows))}
		for j, ref := range r.rows {
			if ref.space != nil {
				d.Vectors[j] = storedVector{ref.embedder, ref.space.Values(ref.row)}
				s.number(ref)
			}
		}
		batch = append(batch, d)
	}
	return batch, end < len(s.pool.docs), nil
}

func (s *saver) number(ref rowRef) {
	n := s.numbers[ref.space]
	if n == nil {
		n = &numbering{embedder: ref.embedder, of: map[vector.Row]uint32{}}
		s.numbers[ref.space] = n
	}
	n.of[ref.row] = n.next
	n.next++
}

// links writes the graph of each space: its embedder, a NUL, the bytes of vector.Links.
func (s *saver) links(w io.Writer) error {
	for space, n := range s.numbers {
		links := space.Links(func(row vector.Row) (uint32, bool) { to, ok := n.of[row]; return to, ok })
		if links == nil || len(links) > maxSection-len(n.embedder)-1 {
			continue
		}
		if err := writeSection(w, sectionLinks, append(append([]byte(n.embedder), 0), links...)); err != nil {
			return err
		}
	}
	return nil
}
