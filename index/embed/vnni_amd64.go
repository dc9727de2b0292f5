package embed

import "golang.org/x/sys/cpu"

// haveVNNI says that the kernels with AVX-512 VNNI, on registers of 256 bits, run on this CPU and agree with the plain form.
var haveVNNI = haveKernels && cpu.X86.HasAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI &&
	agreesQ8(q8Dot2VNNI) && agreesQ4(q4Dot3VNNI)

type (
	q8Kernel func(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)
	q4Kernel func(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)
)

// The self-checks compare a kernel with the plain form, once when the process starts: a wrong answer of a CPU or of an emulator
// costs speed, not results. Weights and activations go from end to end of their range; the scales are powers of two and the
// sums small, so that float32 holds all results and there is nothing to round.
const (
	checkBlocks = 2
	checkWidth  = checkBlocks * blockSize
	checkScale  = .5
)

// checkInputs are whole numbers of -127..127 for some tokens.
func checkInputs(tokens int) []int8 {
	x := make([]int8, tokens*checkWidth)
	for i := range x {
		x[i] = int8(i*53%255 - 127)
	}
	return x
}

// checkProduct is an output by the plain form.
func checkProduct(x []int8, weight func(i int) int) float32 {
	sum := 0
	for i, v := range x {
		sum += int(v) * weight(i)
	}
	return checkScale*float32(sum) + 3
}

func repeated(x float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// agreesQ8 checks a kernel of int8 weights.
func agreesQ8(kernel q8Kernel) bool {
	w := rows{out: q8Outputs, in: checkWidth, q8: make([]byte, q8Outputs*checkWidth)}
	for i := range w.q8 {
		w.q8[i] = byte(i*i*31%255 - 127)
	}
	packed, wide := packQ8(w)
	x := checkInputs(q8Tokens)
	split, below := make([]int8, 2*len(x)), make([]int32, q8Tokens*checkBlocks)
	for i, v := range x {
		at := i/4*8 + i%4
		if split[at] = v; v < 0 {
			split[at], split[at+4] = -v, -1
			below[i/blockSize] -= int32(v)
		}
	}
	dst := make([]float32, q8Tokens*q8Outputs)
	kernel(&dst[0], floatBytes(q8Outputs), &packed[0], &wide[0], &split[0], 2*checkWidth, &repeated(checkScale, len(below))[0], &below[0],
		floatBytes(checkBlocks), checkBlocks, &repeated(1, q8Outputs)[0], &repeated(3, q8Outputs)[0])
	for i, got := range dst {
		row := w.q8[i%q8Outputs*checkWidth:]
		if got != checkProduct(x[i/q8Outputs*checkWidth:][:checkWidth], func(j int) int { return int(int8(row[j])) }) {
			return false
		}
	}
	return true
}

// agreesQ4 checks a kernel of 4-bit weights.
func agreesQ4(kernel q4Kernel) bool {
	weight := func(o, i int) int { return (o*7 + i*i*3) % 16 }
	packed := make([]uint8, q4Outputs*checkWidth)
	for o := range q4Outputs {
		for i := range checkWidth {
			packed[tileAt(checkWidth, 4, q4Outputs, o, i)] = uint8(weight(o, i))
		}
	}
	x := checkInputs(q4Tokens)
	corr := make([]int32, q4Tokens*checkBlocks)
	for i, v := range x {
		corr[i/blockSize] -= 8 * int32(v)
	}
	dst := make([]float32, q4Tokens*q4Outputs)
	kernel(&dst[0], floatBytes(q4Outputs), &packed[0], &repeated(1, checkBlocks*q4Outputs)[0], &x[0], checkWidth,
		&repeated(checkScale, len(corr))[0], &corr[0], floatBytes(checkBlocks), checkBlocks, &repeated(3, q4Outputs)[0])
	for i, got := range dst {
		if got != checkProduct(x[i/q4Outputs*checkWidth:][:checkWidth], func(j int) int { return weight(i%q4Outputs, j) - 8 }) {
			return false
		}
	}
	return true
}
