package vector

import "golang.org/x/sys/cpu"

// haveKernels says that the assembly in this package runs on this CPU.
var haveKernels = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// codeDots writes the approximate scalar products of a query and 4 groups rows: the integer product of their codes times
// the scale behind each row's codes times scale. q and each row are 32 blocks codes of -127..127.
//
//go:noescape
func codeDots(out *float32, rows **int8, groups int, q *int8, blocks int, scale float32)
