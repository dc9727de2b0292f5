//go:build !amd64

package vector

import "unsafe"

// haveKernels says that there are kernels for this CPU; without them rows are scanned in float32 and no graph is built.
const haveKernels = false

func rowDots(out *float32, at **int8, groups int, q *int8, size int) {
	plainDots(unsafe.Slice(out, groups*rowGroup), unsafe.Slice(at, groups*rowGroup), unsafe.Slice(q, size))
}

func scanDots(out *float32, rows *int8, stride, groups int, q *int8, size int) {
	at := make([]*int8, groups*rowGroup)
	for i := range at {
		at[i] = (*int8)(unsafe.Add(unsafe.Pointer(rows), i*stride))
	}
	rowDots(out, &at[0], groups, q, size)
}

func above(scores, scales *float32, from, n int, factor, bar float32) int {
	return plainAbove(unsafe.Slice(scores, n), unsafe.Slice(scales, n), from, factor, bar)
}

func topOf(v *float32, n int) float32 { return plainTop(unsafe.Slice(v, n)) }

func codesOf(dst *int8, v *float32, n int, inverse, scale float32) float32 {
	return plainCodes(unsafe.Slice(dst, n), unsafe.Slice(v, n), inverse, scale)
}

func prefetch(unsafe.Pointer, int) {}
