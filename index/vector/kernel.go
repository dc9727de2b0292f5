package vector

import "unsafe"

// plainDots is what the kernels compute, in Go: the reference of their tests, and the form for other CPUs.
func plainDots(out []float32, rows []*int8, q []int8) {
	for i, row := range rows {
		var sum int32
		for j, x := range unsafe.Slice(row, len(q)) {
			sum += int32(x) * int32(q[j])
		}
		out[i] = float32(sum)
	}
}

// plainAbove is the same for above.
func plainAbove(scores, scales []float32, from int, factor, bar float32) int {
	for ; from < len(scores); from++ {
		if scores[from]*float32(scales[from]*factor) >= bar {
			break
		}
	}
	return from
}
