package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/fxamacker/cbor/v2"
)

// A pool's file is a line of sections behind an eight-byte name and a version. A section is a u32 kind, a u32 length, the
// payload and a u32 CRC-32C of all three; numbers are little endian, payloads CBOR or, for links, the bytes of vector.Links.
// The order is: one header, documents in batches, links for each space that has a graph, one end with the number of documents.
const (
	fileMagic   = "CAIRNIDX"
	fileVersion = 1

	sectionHeader = 1
	sectionDocs   = 2
	sectionLinks  = 3
	sectionEnd    = 4

	maxSection = 1 << 30
	batchDocs  = 256
)

// ErrFile says that a pool's file cannot be used: cut short, damaged, of another version. The pool has to be built anew.
var ErrFile = errors.New("index file is not usable")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Info ties a pool's file to the state it was made from.
type Info struct {
	Generation string // of the state; a file of another generation is worthless
	Watermark  uint64 // log index up to which every change is in the file; later changes are to be replayed
}

type storedDoc struct {
	ID      string         `cbor:"1,keyasint"`
	Meta    []byte         `cbor:"2,keyasint,omitempty"`
	Fields  []Field        `cbor:"3,keyasint,omitempty"`
	Vectors []storedVector `cbor:"4,keyasint,omitempty"`
}

type storedVector struct {
	Embedder string `cbor:"1,keyasint"`
	Values   []byte `cbor:"2,keyasint"` // float32, little endian
}

type storedEnd struct {
	Docs int `cbor:"1,keyasint"`
}

func writeSection(w io.Writer, kind uint32, payload []byte) error {
	if len(payload) > maxSection {
		return fmt.Errorf("write section %d: %d bytes, at most %d", kind, len(payload), maxSection)
	}
	head := binary.LittleEndian.AppendUint32(nil, kind)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(payload)))
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, payload)
	for _, b := range [][]byte{head, payload, binary.LittleEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write section %d: %w", kind, err)
		}
	}
	return nil
}

func writeCBOR(w io.Writer, kind uint32, value any) error {
	payload, err := cbor.Marshal(value)
	if err != nil {
		return fmt.Errorf("write section %d: %w", kind, err)
	}
	return writeSection(w, kind, payload)
}

// readSection reads one section and checks its sum. It allocates as bytes arrive, not as the length says.
func readSection(r io.Reader) (kind uint32, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: section head: %w", ErrFile, err)
	}
	kind, n := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if n > maxSection {
		return 0, nil, fmt.Errorf("%w: section of %d bytes", ErrFile, n)
	}
	payload, err = io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil || len(payload) != int(n) {
		return 0, nil, fmt.Errorf("%w: section of %d bytes has %d, %w", ErrFile, n, len(payload), errors.Join(err))
	}
	var tail [4]byte
	if _, err := io.ReadFull(r, tail[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: section sum: %w", ErrFile, err)
	}
	sum := crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, payload)
	if sum != binary.LittleEndian.Uint32(tail[:]) {
		return 0, nil, fmt.Errorf("%w: sum of section %d", ErrFile, kind)
	}
	return kind, payload, nil
}
