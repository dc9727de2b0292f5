//go:build !amd64

package vector

import (
	"math"
	"unsafe"
)

// haveKernels says that there are kernels for this CPU; without them rows are scanned in float32 and no graph is built.
const haveKernels = false

func codeDots(out *float32, rows **int8, groups int, q *int8, blocks int, scale float32) {
	n := blocks * codeBlock
	sums := unsafe.Slice(out, groups*rowGroup)
	for i, row := range unsafe.Slice(rows, groups*rowGroup) {
		codes := unsafe.Slice(row, n+4)
		var sum int32
		for j, x := range unsafe.Slice(q, n) {
			sum += int32(x) * int32(codes[j])
		}
		bits := uint32(uint8(codes[n])) | uint32(uint8(codes[n+1]))<<8 | uint32(uint8(codes[n+2]))<<16 | uint32(uint8(codes[n+3]))<<24
		sums[i] = float32(sum) * math.Float32frombits(bits) * scale
	}
}
