package vector

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestAgrees checks that the self-check takes the kernels and the plain form, and refuses what is off by one product.
func TestAgrees(t *testing.T) {
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
	rows := func(out *float32, at **int8, groups int, q *int8, size int) {
		plainDots(unsafe.Slice(out, groups*rowGroup), unsafe.Slice(at, groups*rowGroup), unsafe.Slice(q, size))
	}
	scan := func(out *float32, first *int8, stride, groups int, q *int8, size int) {
		at := make([]*int8, groups*rowGroup)
		for i := range at {
			at[i] = (*int8)(unsafe.Add(unsafe.Pointer(first), i*stride))
		}
		rows(out, &at[0], groups, q, size)
	}
	short := func(out *float32, at **int8, groups int, q *int8, size int) { rows(out, at, groups, q, size-1) }
	if !agrees(rows, scan) || !agrees(rowDotsAVX2, scanDotsAVX2) {
		t.Error("right kernels are refused")
	}
	if agrees(short, scan) {
		t.Error("a kernel that leaves out a product is taken")
	}
}

// TestDotsVNNI compares both sets of kernels where there are both.
func TestDotsVNNI(t *testing.T) {
	if !haveVNNI {
		t.Skip("this CPU has no AVX-512 VNNI: its kernels are compared with the others where it is there")
	}
	r := rand.New(rand.NewPCG(9, 9))
	for size := codeBlock; size <= 12*codeBlock; size += codeBlock {
		step, groups := stride(size), 1+r.IntN(5)
		codes, q := make([]int8, groups*rowGroup*step), make([]int8, size)
		for i := range codes {
			codes[i] = int8(r.IntN(255) - 127)
		}
		for i := range q {
			q[i] = int8(r.IntN(255) - 127)
		}
		narrow, wide := make([]float32, groups*rowGroup), make([]float32, groups*rowGroup)
		scanDotsAVX2(&narrow[0], &codes[0], step, groups, &q[0], size)
		scanDotsVNNI(&wide[0], &codes[0], step, groups, &q[0], size)
		if !slices.Equal(narrow, wide) {
			t.Fatalf("%d codes:\n got %v\nwant %v", size, wide, narrow)
		}
	}
}
