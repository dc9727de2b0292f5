package embed

import (
	"encoding/binary"
	"fmt"
	"math"
)

// blockSize is the number of weights that share a scale in the Q4_0 form, and blockBytes the size of such a block:
// a half-precision scale and 16 bytes with two weights each.
const (
	blockSize  = 32
	blockBytes = 2 + blockSize/2
)

// rows is a quantised matrix as it lies in the weights file: int8 rows with one scale a row, or Q4_0 blocks.
type rows struct {
	out, in int
	q8      []byte    // int8 [out][in], nil for Q4_0
	scale   []float32 // [out], for q8
	q4      []byte    // [out][in/32][18], nil for int8
}

// readRows finds matrix name in either form and checks its shape.
func readRows(ts map[string]tensor, name string, out, in int) (rows, error) {
	if _, ok := ts[name+".q8"]; ok {
		t, err := typed(ts, name+".q8", "I8", out, in)
		if err != nil {
			return rows{}, err
		}
		scale, err := floats(ts, name+".scale", out)
		if err != nil {
			return rows{}, err
		}
		return rows{out: out, in: in, q8: t.data, scale: scale}, nil
	}
	if in%blockSize != 0 {
		return rows{}, fmt.Errorf("%w: tensor %q: %d columns", errTensors, name, in)
	}
	t, err := typed(ts, name+".q4_0", "U8", out, in/blockSize, blockBytes)
	if err != nil {
		return rows{}, err
	}
	return rows{out: out, in: in, q4: t.data}, nil
}

// row writes row i to dst, which holds r.in values.
func (r rows) row(dst []float32, i int) {
	if r.q8 != nil {
		scale := r.scale[i]
		for j, q := range r.q8[i*r.in : (i+1)*r.in] {
			dst[j] = float32(int8(q)) * scale
		}
		return
	}
	size := r.in / blockSize * blockBytes
	for b := r.q4[i*size : (i+1)*size]; len(b) > 0; b = b[blockBytes:] {
		scale := halfToFloat(binary.LittleEndian.Uint16(b))
		for j, x := range b[2:blockBytes] {
			dst[j] = float32(int(x&15)-8) * scale
			dst[j+blockSize/2] = float32(int(x>>4)-8) * scale
		}
		dst = dst[blockSize:]
	}
}

// floats returns the whole matrix, row by row.
func (r rows) floats() []float32 {
	w := make([]float32, r.out*r.in)
	for i := range r.out {
		r.row(w[i*r.in:], i)
	}
	return w
}

// halfToFloat converts IEEE 754 half precision.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch {
	case exp == 31:
		return math.Float32frombits(sign | 0xFF<<23 | frac<<13)
	case exp > 0:
		return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
	}
	x := float32(frac) / (1 << 24)
	if sign != 0 {
		return -x
	}
	return x
}
