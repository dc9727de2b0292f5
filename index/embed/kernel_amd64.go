package embed

import "golang.org/x/sys/cpu"

// haveKernels says that the assembly in this package runs on this CPU.
var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// q8Dot2 writes 32 outputs of two tokens: dst = scale * sum over blocks(xs * sum(w x)) + bias. w and wide are made by
// packQ8, x is the split form of quantizeBlocks with a scale a block in xs and the sums of what is below zero in below. Strides
// are bytes between tokens.
func q8Dot2(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32) {
	if haveVNNI {
		q8Dot2VNNI(dst, dstStride, w, wide, x, xStride, xs, below, xsStride, blocks, scale, bias)
		return
	}
	q8Dot2AVX2(dst, dstStride, w, wide, x, xStride, xs, below, xsStride, blocks, scale, bias)
}

// q4Dot3 writes sixteen outputs of three tokens for weights 0..15 that stand for -8..7, packed by packQ4: d holds their scales
// [blocks][16], x is bytes, corr -8 times the sum of each block of x.
func q4Dot3(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32) {
	if haveVNNI {
		q4Dot3VNNI(dst, dstStride, w, d, x, xStride, xs, corr, xsStride, blocks, bias)
		return
	}
	q4Dot3AVX2(dst, dstStride, w, d, x, xStride, xs, corr, xsStride, blocks, bias)
}

//go:noescape
func q8Dot2AVX2(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)

//go:noescape
func q8Dot2VNNI(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32)

//go:noescape
func q4Dot3AVX2(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)

//go:noescape
func q4Dot3VNNI(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32)

// quantizeBlocks turns blocks of 32 floats into whole numbers q of -127..127 with scale max|x|/127. split takes them again in
// fours: four |q|, then four bytes that are all ones where q is below zero. corr is -8 times the sum of q, below the sum of |q|
// where q is below zero.
//
//go:noescape
func quantizeBlocks(q, split *int8, scale *float32, corr, below *int32, x *float32, blocks int)

// gemm4x16 writes dst[4][16] = a[4][k] b[k][16]. Strides are bytes between rows; k is at least 1.
//
//go:noescape
func gemm4x16(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k int)

// gelu8 replaces 8 groups floats by x/2 (1 + erf(x/sqrt 2)).
//
//go:noescape
func gelu8(x *float32, groups int, c *[20]float32)

// softmaxRows replaces rows of 8 groups floats, stride bytes apart, by e^x / sum of e^x. x - max below -80 counts as -80.
//
//go:noescape
func softmaxRows(x *float32, rows, stride, groups int, c *[11]float32)
