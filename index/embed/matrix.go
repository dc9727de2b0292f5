package embed

import (
	"encoding/binary"
	"unsafe"

	"github.com/viterin/vek/vek32"
)

// form is the arithmetic of a model's matrices.
type form int

const (
	// formFloat multiplies dequantised weights in float32. It runs everywhere and is exact to the golden vectors.
	formFloat form = iota
	// formInt8 multiplies the weights as stored with activations in int8, a scale for each block of 32.
	formInt8
)

// bestForm is the fastest form this CPU has.
func bestForm() form {
	if haveKernels {
		return formInt8
	}
	return formFloat
}

// tokenBlock is how many tokens are multiplied with a row of weights while that row is in the first-level cache.
const tokenBlock = 16

// Sizes of the tiles of the kernels.
const (
	q8Tokens    = 2  // q8Dot2
	q8Outputs   = 32 // q8Dot2
	q4Tokens    = 3  // q4Dot3
	q4Outputs   = 16 // q4Dot3
	tileRows    = 4  // gemm4x16
	tileColumns = 16 // gemm4x16
	padTokens   = 12 // rows are there for a multiple of q8Tokens, q4Tokens and tileRows
)

// input is what a matrix is multiplied with: n tokens of width floats, and their int8 form for formInt8.
// Buffers hold n rounded up to padTokens; the rows beyond n have defined but meaningless values.
type input struct {
	n, width int
	x        []float32
	q        []int8
	split    []int8    // |q| and its signs, twice as long; for int8 weights
	scale    []float32 // a block of 32
	corr     []int32   // -8 times the sum of a block, for weights 0..15
	below    []int32   // the sum of |q| below zero of a block, for int8 weights
}

// set makes x [n][width] the input; quantise also makes its int8 form.
func (in *input) set(x []float32, n, width int, quantise bool) {
	in.n, in.width, in.x = n, width, x
	if !quantise {
		return
	}
	size := roundUp(n, padTokens) * width
	in.q = resize(in.q, size)
	in.split = resize(in.split, 2*size)
	in.scale = resize(in.scale, size/blockSize)
	in.corr = resize(in.corr, size/blockSize)
	in.below = resize(in.below, size/blockSize)
	quantizeBlocks(&in.q[0], &in.split[0], &in.scale[0], &in.corr[0], &in.below[0], &x[0], roundUp(n, q8Tokens*q4Tokens)*width/blockSize)
}

// matrix is y = W x + b.
type matrix interface {
	// apply writes the outputs of all tokens to dst [n][out]. With formInt8, dst has room for n rounded up to padTokens.
	apply(dst []float32, in *input)
}

func newMatrix(w rows, bias []float32, f form) matrix {
	switch {
	case f == formFloat:
		return &floatMatrix{in: w.in, out: w.out, w: w.floats(), bias: bias}
	case w.q8 != nil:
		m := &q8Matrix{in: w.in, out: w.out, scale: w.scale, bias: bias}
		m.w, m.wide = packQ8(w)
		return m
	}
	m := &q4Matrix{in: w.in, out: w.out, bias: bias}
	m.w, m.d = packQ4(w)
	return m
}

// floatMatrix holds W [out][in] in float32.
type floatMatrix struct {
	in, out int
	w       []float32
	bias    []float32
}

func (m *floatMatrix) apply(dst []float32, in *input) {
	for t0 := 0; t0 < in.n; t0 += tokenBlock {
		t1 := min(in.n, t0+tokenBlock)
		for o := range m.out {
			w, b := m.w[o*m.in:(o+1)*m.in], m.bias[o]
			for t := t0; t < t1; t++ {
				dst[t*m.out+o] = vek32.Dot(w, in.x[t*m.in:(t+1)*m.in]) + b
			}
		}
	}
}

// q8Matrix holds int8 rows in tiles [out/32][in/4][32][4], so that a load brings four weights of each of eight outputs.
type q8Matrix struct {
	in, out int
	w       []int8
	wide    []uint8 // [out/32][in/32], a bit for each step of eight inputs
	scale   []float32
	bias    []float32
}

// packQ8 brings int8 rows into tiles. Products of bytes are added up in words: with |x| of at most 127 a word holds those of
// two inputs in any case, and those of four (two of each half of a step) where the weights are small enough. The steps where
// they are not have their bit set in wide.
func packQ8(w rows) (packed []int8, wide []uint8) {
	packed, wide = make([]int8, w.out*w.in), make([]uint8, w.out/q8Outputs*w.in/blockSize)
	for o := range w.out {
		row := w.q8[o*w.in : (o+1)*w.in]
		for i, x := range row {
			packed[tileAt(w.in, 4, q8Outputs, o, i)] = int8(x)
		}
		for i := 0; i < w.in; i += stepInputs {
			if !narrow(row[i:i+4], row[i+4:i+8]) {
				wide[o/q8Outputs*(w.in/blockSize)+i/blockSize] |= 1 << (i % blockSize / stepInputs)
			}
		}
	}
	return packed, wide
}

// stepInputs is the number of inputs of a step of q8Dot2.
const stepInputs = 8

// narrow reports whether no word of a step can overflow, whatever the activations and their signs.
func narrow(a, b []byte) bool {
	size := func(x byte) int {
		return max(-int(int8(x)), int(int8(x))+1) // of w and of its complement, which stands for -w
	}
	for i := 0; i < len(a); i += 2 {
		if 127*(size(a[i])+size(a[i+1])+size(b[i])+size(b[i+1])) > 1<<15-1 {
			return false
		}
	}
	return true
}

// tileAt is the place of weight (o, i) in tiles [out/outputs][in/group][outputs][group].
func tileAt(in, group, outputs, o, i int) int {
	return (o/outputs*(in/group)+i/group)*group*outputs + o%outputs*group + i%group
}

func (m *q8Matrix) apply(dst []float32, in *input) {
	blocks := m.in / blockSize
	for o := 0; o < m.out; o += q8Outputs {
		w, wide, scale, bias := &m.w[o*m.in], &m.wide[o/q8Outputs*blocks], &m.scale[o], &m.bias[o]
		for t := 0; t < in.n; t += q8Tokens {
			q8Dot2(&dst[t*m.out+o], floatBytes(m.out), w, wide, &in.split[2*t*m.in], uintptr(2*m.in),
				&in.scale[t*blocks], &in.below[t*blocks], floatBytes(blocks), blocks, scale, bias)
		}
	}
}

// q4Matrix holds weights 0..15, one a byte, in tiles [out/16][in/4][16][4], and the scales of the blocks [out/16][in/32][16].
type q4Matrix struct {
	in, out int
	w       []uint8
	d       []float32
	bias    []float32
}

func packQ4(w rows) (packed []uint8, d []float32) {
	blocks := w.in / blockSize
	packed, d = make([]uint8, w.out*w.in), make([]float32, w.out*blocks)
	for o := range w.out {
		for k := range blocks {
			b := w.q4[(o*blocks+k)*blockBytes:][:blockBytes]
			d[(o/q4Outputs*blocks+k)*q4Outputs+o%q4Outputs] = halfToFloat(binary.LittleEndian.Uint16(b))
			for j, x := range b[2:] {
				packed[tileAt(w.in, 4, q4Outputs, o, k*blockSize+j)] = x & 15
				packed[tileAt(w.in, 4, q4Outputs, o, k*blockSize+j+blockSize/2)] = x >> 4
			}
		}
	}
	return packed, d
}

func (m *q4Matrix) apply(dst []float32, in *input) {
	blocks := m.in / blockSize
	for o := 0; o < m.out; o += q4Outputs {
		w, d, bias := &m.w[o*m.in], &m.d[o*blocks], &m.bias[o]
		for t := 0; t < in.n; t += q4Tokens {
			q4Dot3(&dst[t*m.out+o], floatBytes(m.out), w, d, &in.q[t*m.in], uintptr(m.in),
				&in.scale[t*blocks], &in.corr[t*blocks], floatBytes(blocks), blocks, bias)
		}
	}
}

func floatBytes(n int) uintptr { return uintptr(n) * unsafe.Sizeof(float32(0)) }

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// resize returns b with n values, which are not cleared.
func resize[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}
