package vector

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// haveKernels says that the assembly in this package runs on this CPU.
var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// rowDots writes the integer products of a query and the 4 groups rows at points to, as floats. q and each row have size
// codes of -127..127, a multiple of codeBlock; groups is at least 1. Rows are asked from memory two groups ahead.
//
//go:noescape
func rowDots(out *float32, at **int8, groups int, q *int8, size int)

// scanDots is rowDots for rows that lie in a line, stride bytes apart.
//
//go:noescape
func scanDots(out *float32, rows *int8, stride, groups int, q *int8, size int)

// above returns the first i of from..n-1 with scores[i] * (scales[i] * factor) >= bar, n when there is none. It reads both in
// groups of eight from the start on.
//
//go:noescape
func above(scores, scales *float32, from, n int, factor, bar float32) int

// prefetch asks for the memory from p on, without waiting for it.
//
//go:noescape
func prefetch(p unsafe.Pointer, bytes int)
