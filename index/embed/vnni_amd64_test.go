package embed

import "testing"

// TestAgrees checks that the self-checks take right kernels and refuse a wrong one.
func TestAgrees(t *testing.T) {
	needKernels(t)
	if !agreesQ8(q8Dot2AVX2) || !agreesQ4(q4Dot3AVX2) {
		t.Error("right kernels are refused")
	}
	if agreesQ8(func(dst *float32, dstStride uintptr, w *int8, wide *uint8, x *int8, xStride uintptr, xs *float32, below *int32, xsStride uintptr, blocks int, scale, bias *float32) {
		q8Dot2AVX2(dst, dstStride, w, wide, x, xStride, xs, below, xsStride, blocks-1, scale, bias)
	}) {
		t.Error("a kernel that leaves out a block is taken")
	}
	if agreesQ4(func(dst *float32, dstStride uintptr, w *uint8, d *float32, x *int8, xStride uintptr, xs *float32, corr *int32, xsStride uintptr, blocks int, bias *float32) {
		q4Dot3AVX2(dst, dstStride, w, d, x, xStride, xs, &make([]int32, q4Tokens*checkBlocks)[0], xsStride, blocks, bias)
	}) {
		t.Error("a kernel without corrections is taken")
	}
}

// TestVNNI compares the kernels that stand behind those with AVX-512 VNNI, which answer in all other tests where they are there.
func TestVNNI(t *testing.T) {
	if !haveVNNI {
		t.Skip("this CPU has no AVX-512 VNNI: its kernels are compared with the plain form where it is there")
	}
	haveVNNI = false
	defer func() { haveVNNI = true }()
	TestMatrixKernels(t)
}
