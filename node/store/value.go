package store

import (
	"bytes"
	"fmt"
	"math"
	"sync"

	"github.com/fxamacker/cbor/v2"
)

// FormatVersion is byte 0 of every value and stands in the database's metadata. Newer data is refused on open.
const FormatVersion = 1

type codec struct {
	enc cbor.UserBufferEncMode
	dec cbor.DecMode
	log cbor.DecMode // of commands
}

var codecs = sync.OnceValue(func() codec {
	enc, err := cbor.CoreDetEncOptions().UserBufferEncMode()
	if err != nil {
		panic(err) // constant options
	}
	// Text that is not UTF-8 is taken as it is: a command that got into the log must apply, or it halts every node.
	options := cbor.DecOptions{MaxArrayElements: 1 << 20, MaxMapPairs: 1 << 16, UTF8: cbor.UTF8DecodeInvalid}
	dec, err := options.DecMode()
	if err != nil {
		panic(err) // constant options
	}
	// A field that this version does not know may change what the command means: skipping it would make nodes differ.
	options.ExtraReturnErrors, options.DupMapKey = cbor.ExtraDecErrorUnknownField, cbor.DupMapKeyEnforcedAPF
	log, err := options.DecMode()
	if err != nil {
		panic(err) // constant options
	}
	return codec{enc, dec, log}
})

// marshal encodes deterministically (RFC 8949 4.2.1): equal values give equal bytes on every node.
func marshal(v any) ([]byte, error) {
	return codecs().enc.Marshal(v)
}

func unmarshal(data []byte, v any) error {
	return codecs().dec.Unmarshal(data, v)
}

// decodeCommand reads a command or its body from the log.
func decodeCommand(data []byte, v any) error {
	return codecs().log.Unmarshal(data, v)
}

// maxPooled bounds a buffer that is kept for the next value.
const maxPooled = 64 << 10

var encoding = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encodeValue writes the format and the value into a buffer that is used again, so that what it returns is allocated once.
func encodeValue(v any) ([]byte, error) {
	b := encoding.Get().(*bytes.Buffer)
	b.Reset()
	b.WriteByte(FormatVersion)
	if err := codecs().enc.MarshalToBuffer(v, b); err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	out := bytes.Clone(b.Bytes())
	if b.Cap() <= maxPooled {
		encoding.Put(b)
	}
	return out, nil
}

func decodeValue(data []byte, v any) error {
	if len(data) == 0 {
		return fmt.Errorf("decode %T: empty value", v)
	}
	if data[0] != FormatVersion {
		return fmt.Errorf("decode %T: format %d, this version reads %d", v, data[0], FormatVersion)
	}
	if decodeSums(data[1:], v) {
		return nil
	}
	if err := unmarshal(data[1:], v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}

// Vector is an embedding as it is stored: IEEE 754 half precision, little endian, with the id of its embedder.
type Vector struct {
	Embedder string `cbor:"1,keyasint"`
	Half     []byte `cbor:"2,keyasint"`
}

// PackVector rounds values to half precision (relative error below 2^-11 for values of a unit vector above 2^-14).
func PackVector(embedder string, values []float32) Vector {
	half := make([]byte, 2*len(values))
	for i, v := range values {
		h := toHalf(v)
		half[2*i], half[2*i+1] = byte(h), byte(h>>8)
	}
	return Vector{embedder, half}
}

// Values unpacks the vector.
func (v Vector) Values() []float32 {
	out := make([]float32, len(v.Half)/2)
	for i := range out {
		out[i] = fromHalf(uint16(v.Half[2*i]) | uint16(v.Half[2*i+1])<<8)
	}
	return out
}

// toHalf rounds to nearest even; values beyond the range become infinities.
func toHalf(f float32) uint16 {
	b := math.Float32bits(f)
	sign := uint16(b>>16) & 0x8000
	exp := int(b>>23&0xff) - 127 + 15
	frac := b & 0x7fffff
	switch {
	case exp >= 31:
		if b&0x7fffffff > 0x7f800000 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case exp <= 0:
		if exp < -10 {
			return sign
		}
		frac |= 0x800000
		return sign | roundShift(frac, uint(14-exp))
	}
	return sign | (uint16(exp)<<10 + roundShift(frac, 13))
}

func roundShift(frac uint32, shift uint) uint16 {
	out := frac >> shift
	rest := frac & (1<<shift - 1)
	if half := uint32(1) << (shift - 1); rest > half || rest == half && out&1 == 1 {
		out++
	}
	return uint16(out)
}

func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exp := uint32(h >> 10 & 0x1f)
	frac := uint32(h & 0x3ff)
	switch exp {
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	case 0:
		v := float32(frac) / (1 << 24)
		if sign != 0 {
			return -v
		}
		return v
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}
