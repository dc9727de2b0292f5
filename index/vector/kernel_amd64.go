package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// haveKernels says that the assembly in this package runs on this CPU.
var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// haveVNNI says that the kernels with AVX-512 VNNI, on registers of 256 bits, run on this CPU and agree with the plain form.
var haveVNNI = haveKernels && cpu.X86.HasAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI && agrees(rowDotsVNNI, scanDotsVNNI)

// rowDots writes the integer products of a query and the 4 groups rows at points to, as floats. q and each row have size
// codes of -127..127, a multiple of codeBlock; groups is at least 1. Rows are asked from memory two groups ahead.
func rowDots(out *float32, at **int8, groups int, q *int8, size int) {
	if haveVNNI {
		rowDotsVNNI(out, at, groups, q, size)
		return
	}
	rowDotsAVX2(out, at, groups, q, size)
}

// scanDots is rowDots for rows that lie in a line, stride bytes apart.
func scanDots(out *float32, rows *int8, stride, groups int, q *int8, size int) {
	if haveVNNI {
		scanDotsVNNI(out, rows, stride, groups, q, size)
		return
	}
	scanDotsAVX2(out, rows, stride, groups, q, size)
}

//go:noescape
func rowDotsAVX2(out *float32, at **int8, groups int, q *int8, size int)

//go:noescape
func rowDotsVNNI(out *float32, at **int8, groups int, q *int8, size int)

//go:noescape
func scanDotsAVX2(out *float32, rows *int8, stride, groups int, q *int8, size int)

//go:noescape
func scanDotsVNNI(out *float32, rows *int8, stride, groups int, q *int8, size int)

// agrees compares kernels with the plain form on codes from end to end of their range, once when the process starts: a wrong
// answer of a CPU or of an emulator costs speed, not results.
func agrees(rowDots func(*float32, **int8, int, *int8, int), scanDots func(*float32, *int8, int, int, *int8, int)) bool {
	const groups, step, size = 3, 2 * codeLine, 3 * codeBlock
	var codes [groups * rowGroup * step]int8
	var q [size]int8
	for i := range codes {
		codes[i] = int8(i*i*31%255 - 127)
	}
	for i := range q {
		q[i] = int8(i*53%255 - 127)
	}
	var at [groups * rowGroup]*int8
	for i := range at {
		at[i] = &codes[i*step]
	}
	var want, byRow, byScan [groups * rowGroup]float32
	plainDots(want[:], at[:], q[:])
	rowDots(&byRow[0], &at[0], groups, &q[0], size)
	scanDots(&byScan[0], &codes[0], step, groups, &q[0], size)
	return byRow == want && byScan == want
}

// above returns the first i of from..n-1 with scores[i] * (scales[i] * factor) >= bar, n when there is none. It reads both in
// groups of eight from the start on.
//
//go:noescape
func above(scores, scales *float32, from, n int, factor, bar float32) int

// topOf returns the greatest |v[i]| of n values, a multiple of 32 and more than none.
//
//go:noescape
func topOf(v *float32, n int) float32

// codesOf writes v[i] * inverse, rounded to whole numbers, ties to even, and returns the sum of (v[i] - code * scale)^2. n is a
// multiple of 32 and more than none.
//
//go:noescape
func codesOf(dst *int8, v *float32, n int, inverse, scale float32) float32

// prefetch asks for the memory from p on, without waiting for it.
//
//go:noescape
func prefetch(p unsafe.Pointer, bytes int)
