// Package vectorfile keeps the vectors of texts in a file, so that a benchmark embeds a data set once. It is for benchmarks only.
//
// A file holds records one behind the other: the SHA-256 of the text, a byte with the length of the embedder's id, the id, the
// number of values (32 bits, little endian), the values as float32. A record that was cut off at the end is dropped.
//
// Such a file can also be an embedder by itself, written file:PATH: any model's vectors, made elsewhere, can then be measured. It knows the
// texts of a benchmark and no others, so a server, which is given new texts, does not take it.
package vectorfile

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"cairn/index/embed"
)

const maxValues = 1 << 16

var (
	// ErrFile says that a file does not hold vectors.
	ErrFile = errors.New("not a file of vectors")
	// ErrMissing says that a file which is an embedder by itself does not have a text.
	ErrMissing = errors.New("text without vector")
)

// Scheme is what stands before the path of a file that is an embedder by itself.
const Scheme = "file:"

// Embedder gives the vectors of a file and adds those that another embedder makes. It is not safe for concurrent use.
type Embedder struct {
	path  string
	known map[[sha256.Size]byte]embed.Vector
	next  Batcher
	added bytes.Buffer
}

// Batcher makes the vectors that a file does not have; embed.Encoder is one.
type Batcher interface {
	EmbedBatch(ctx context.Context, texts []string) ([]embed.Vector, error)
}

// Open reads a file; one that is not there yet is made by Flush. It returns ErrFile for a file of something else. An empty path keeps the vectors
// in memory only.
func Open(path string, next Batcher) (*Embedder, error) {
	e := &Embedder{path: path, known: map[[sha256.Size]byte]embed.Vector{}, next: next}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) || path == "" {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	whole := int64(0)
	for r := bufio.NewReaderSize(f, 1<<20); ; {
		key, v, n, err := readRecord(r)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return e, os.Truncate(path, whole)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		whole += n
		e.known[key] = v
	}
}

// OpenAlone reads a file that is an embedder by itself; EmbedBatch returns ErrMissing for a text that it does not have, and Flush writes nothing.
// The file must be there.
func OpenAlone(path string) (*Embedder, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return Open(path, alone{})
}

// alone makes no vectors.
type alone struct{}

func (alone) EmbedBatch(_ context.Context, texts []string) ([]embed.Vector, error) {
	return nil, fmt.Errorf("%w: %d texts, the first with SHA-256 %x", ErrMissing, len(texts), sha256.Sum256([]byte(texts[0])))
}

func readRecord(r io.Reader) (key [sha256.Size]byte, v embed.Vector, size int64, err error) {
	var id [1]byte
	if _, err = io.ReadFull(r, key[:]); err != nil {
		return key, v, 0, err
	}
	if _, err = io.ReadFull(r, id[:]); err != nil {
		return key, v, 0, err
	}
	head := make([]byte, int(id[0])+4)
	if _, err = io.ReadFull(r, head); err != nil {
		return key, v, 0, err
	}
	n := binary.LittleEndian.Uint32(head[id[0]:])
	if n > maxValues {
		return key, v, 0, fmt.Errorf("%w: %d values", ErrFile, n)
	}
	values := make([]byte, 4*n)
	if _, err = io.ReadFull(r, values); err != nil {
		return key, v, 0, err
	}
	if n > 0 {
		v = embed.Vector{Embedder: string(head[:id[0]]), Values: make([]float32, n)}
		for i := range v.Values {
			v.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(values[4*i:]))
		}
	}
	return key, v, int64(len(key) + 1 + len(head) + len(values)), nil
}

// EmbedBatch returns the vector of each text, the zero Vector for blank ones.
func (e *Embedder) EmbedBatch(ctx context.Context, texts []string) ([]embed.Vector, error) {
	var missing []string
	asked := map[[sha256.Size]byte]bool{}
	for _, t := range texts {
		key := sha256.Sum256([]byte(t))
		if _, ok := e.known[key]; !ok && !asked[key] {
			asked[key] = true
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		made, err := e.next.EmbedBatch(ctx, missing)
		if err != nil {
			return nil, err
		}
		for i, v := range made {
			e.add(missing[i], v)
		}
	}
	out := make([]embed.Vector, len(texts))
	for i, t := range texts {
		out[i] = e.known[sha256.Sum256([]byte(t))]
	}
	return out, nil
}

func (e *Embedder) add(text string, v embed.Vector) {
	key := sha256.Sum256([]byte(text))
	e.known[key] = v
	e.added.Write(key[:])
	e.added.WriteByte(byte(len(v.Embedder)))
	e.added.WriteString(v.Embedder)
	buf := binary.LittleEndian.AppendUint32(nil, uint32(len(v.Values)))
	for _, x := range v.Values {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	e.added.Write(buf)
}

// Flush appends to the file what was made since it was opened.
func (e *Embedder) Flush() (err error) {
	if e.path == "" || e.added.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(e.added.Bytes())
	e.added.Reset()
	return err
}
