//go:build !amd64

package embed

// haveKernels says that there are kernels for this CPU; without them the float32 path is used.
const haveKernels = false

func q8Dot2(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32) {
}

func q4Dot3(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32) {
}

func quantizeBlocks(q, split *int8, scale *float32, corr, below *int32, x *float32, blocks int) {}

func gemm4x16(dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k int) {
}

func gelu8(x *float32, groups int, c *[20]float32) {}

func softmaxRows(x *float32, rows, stride, groups int, c *[11]float32) {}
