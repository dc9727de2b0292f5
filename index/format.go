package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

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
	Values   floats `cbor:"2,keyasint"`
}

// floats is stored as a byte string of float32, little endian.
type floats []float32

// MarshalCBOR implements cbor.Marshaler.
func (f floats) MarshalCBOR() ([]byte, error) {
	var b []byte // nil is stored as null
	b = slices.Grow(b, 4*len(f))
	for _, x := range f {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	out, err := cbor.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("store values: %w", err)
	}
	return out, nil
}

// UnmarshalCBOR implements cbor.Unmarshaler. data is one well-formed item; the values are read from where they lie in it, since a file
// consists of little else.
func (f *floats) UnmarshalCBOR(data []byte) error {
	if len(data) == 1 && data[0] == null {
		*f = nil
		return nil
	}
	b, ok := byteString(data)
	if !ok || len(b)%4 != 0 {
		return fmt.Errorf("%w: values are not a string of float32", ErrFile)
	}
	*f = make(floats, len(b)/4)
	for i := range *f {
		(*f)[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

// null is the item that stands for no value, RFC 8949 3.3.
const null = 0xF6

// byteString returns the bytes of a byte string of known length, RFC 8949 3.1. They share memory with item.
func byteString(item []byte) (b []byte, ok bool) {
	const major, lengths = 2 << 5, 24 // a length is in the head below 24, else in 1, 2, 4 or 8 bytes behind it
	if len(item) == 0 || item[0]&0xE0 != major {
		return nil, false
	}
	n, rest := uint64(item[0]&0x1F), item[1:]
	if n >= lengths {
		size := 1 << (n - lengths)
		if n > lengths+3 || len(rest) < size {
			return nil, false
		}
		n = 0
		for _, x := range rest[:size] {
			n = n<<8 | uint64(x)
		}
		rest = rest[size:]
	}
	return rest, uint64(len(rest)) == n
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

// readSection reads one section and checks its sum. The payload lies in into where that has room.
func readSection(r io.Reader, into []byte) (kind uint32, payload []byte, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: section head: %w", ErrFile, err)
	}
	kind, n := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:])
	if n > maxSection {
		return 0, nil, fmt.Errorf("%w: section of %d bytes", ErrFile, n)
	}
	if payload, err = readPayload(r, into, int(n)); err != nil {
		return 0, nil, err
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

// trusted is how many bytes are allocated on the word of a length that no sum has confirmed yet.
const trusted = 1 << 20

// readPayload reads n bytes into the room of into. Beyond it and trusted bytes it allocates as bytes arrive, twice as much each time.
func readPayload(r io.Reader, into []byte, n int) ([]byte, error) {
	into = into[:0]
	for len(into) < n {
		step := min(n-len(into), max(trusted, len(into), cap(into)-len(into)))
		into = slices.Grow(into, step)
		got, err := io.ReadFull(r, into[len(into):len(into)+step])
		into = into[:len(into)+got]
		if err != nil {
			return nil, fmt.Errorf("%w: section of %d bytes has %d: %w", ErrFile, n, len(into), err)
		}
	}
	return into, nil
}
