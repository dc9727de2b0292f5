package vector

import "math"

const (
	codeBlock = 32 // codes are padded with zeros to a multiple of it
	codeLine  = 64 // rows of codes begin at a multiple of it: a line of the cache
	rowGroup  = 4  // rows the kernels look at together
)

// code is the int8 form of a vector: value = code * scale, codes of -127..127.
type code struct {
	values []int8 // a multiple of codeBlock
	scale  float32
	loss   float64 // Euclidean length of what rounding took away
}

// roundBits added to a float32 below 2^22 leaves its nearest integer, ties to even, in the low bits.
const roundBits = 3 << 22

// encodeInto writes the codes of v to dst, which is as long as a padded vector.
func encodeInto(dst []int8, v []float32) (scale float32, loss float64) {
	m := 0 // values that kernels encode
	if haveKernels {
		m = len(v) / codeBlock * codeBlock
	}
	top := plainTop(v[m:])
	if m > 0 {
		top = max(top, topOf(&v[0], m))
	}
	scale = max(top, 1e-30) / 127
	inverse := 1 / scale
	sum := plainCodes(dst[m:], v[m:], inverse, scale)
	if m > 0 {
		sum += codesOf(&dst[0], &v[0], m, inverse, scale)
	}
	clear(dst[len(v):])
	return scale, math.Sqrt(float64(sum)) * (1 + 1e-4) // the sum is off by less than 1e-4 of itself
}

// plainTop and plainCodes are the forms in Go of topOf and codesOf.
func plainTop(v []float32) (top float32) {
	for _, x := range v {
		top = max(top, x, -x)
	}
	return top
}

func plainCodes(dst []int8, v []float32, inverse, scale float32) float32 {
	var sum0, sum1 float32
	dst = dst[:max(len(v), len(dst))]
	for i, x := range v {
		c := float32(x*inverse) + roundBits
		c -= roundBits
		c = min(127, max(-127, c))
		dst[i] = int8(c)
		d := x - float32(c*scale)
		sum0, sum1 = sum1, sum0+d*d
	}
	return sum0 + sum1
}

func encode(v []float32, dst []int8) code {
	c := code{values: dst}
	c.scale, c.loss = encodeInto(dst, v)
	return c
}

// padded is the number of codes of a vector, stride the number of bytes from one to the next.
func padded(dims int) int { return (dims + codeBlock - 1) / codeBlock * codeBlock }
func stride(dims int) int { return (dims + codeLine - 1) / codeLine * codeLine }

// arena holds the values, codes and scales of arenaRows rows.
type arena struct {
	values []float32
	codes  []int8 // a row every stride bytes
	scales []float32
}

// put writes row i and returns the length that rounding took away from it.
func (a *arena) put(i int, v []float32) (loss float64) {
	copy(a.values[i*len(v):], v)
	at := i * stride(len(v))
	a.scales[i], loss = encodeInto(a.codes[at:at+padded(len(v))], v)
	return loss
}

// code returns row i as a query.
func (a *arena) code(i, dims int) code {
	n := padded(dims)
	row := a.codes[i*stride(dims):]
	return code{values: row[:n:n], scale: a.scales[i]}
}
