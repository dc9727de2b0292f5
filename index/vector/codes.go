package vector

import (
	"encoding/binary"
	"math"
	"unsafe"
)

const (
	codeBlock = 32 // codes are padded with zeros to a multiple of it
	rowGroup  = 4  // rows codeDots looks at together
	trailer   = 32 // bytes behind the codes of a row: its scale, and padding
)

// code is the int8 form of a vector: value = code * scale, codes of -127..127.
type code struct {
	values []int8 // a multiple of codeBlock
	scale  float32
	loss   float64 // Euclidean length of what rounding took away
}

// encodeInto writes the codes of v to dst, which is as long as a padded vector.
func encodeInto(dst []int8, v []float32) (scale float32, loss float64) {
	var top float32
	for _, x := range v {
		top = max(top, float32(math.Abs(float64(x))))
	}
	scale = max(top, 1e-30) / 127
	for i, x := range v {
		c := math.RoundToEven(float64(x) / float64(scale))
		c = min(127, max(-127, c))
		dst[i] = int8(c)
		d := float64(x) - c*float64(scale)
		loss += d * d
	}
	clear(dst[len(v):])
	return scale, math.Sqrt(loss)
}

func encode(v []float32, dst []int8) code {
	c := code{values: dst}
	c.scale, c.loss = encodeInto(dst, v)
	return c
}

// arena holds the values and codes of arenaRows rows. codes has a row every stride bytes; at points to each.
type arena struct {
	values []float32
	codes  []int8
	at     []*int8
}

func newArena(dims int) *arena {
	stride := padded(dims) + trailer
	a := &arena{values: make([]float32, arenaRows*dims), codes: make([]int8, arenaRows*stride), at: make([]*int8, arenaRows)}
	for i := range a.at {
		a.at[i] = &a.codes[i*stride]
	}
	return a
}

// put writes row i and returns the length that rounding took away from it.
func (a *arena) put(i int, v []float32) (loss float64) {
	dims := len(v)
	copy(a.values[i*dims:], v)
	n := padded(dims)
	row := a.codes[i*(n+trailer):][:n+trailer]
	scale, loss := encodeInto(row[:n], v)
	tail := unsafe.Slice((*byte)(unsafe.Pointer(&row[n])), 4)
	binary.LittleEndian.PutUint32(tail, math.Float32bits(scale))
	return loss
}

// code returns row i as a query.
func (a *arena) code(i, dims int) code {
	n := padded(dims)
	row := a.codes[i*(n+trailer):][:n+trailer]
	tail := unsafe.Slice((*byte)(unsafe.Pointer(&row[n])), 4)
	return code{values: row[:n:n], scale: math.Float32frombits(binary.LittleEndian.Uint32(tail))}
}

func padded(dims int) int { return (dims + codeBlock - 1) / codeBlock * codeBlock }
