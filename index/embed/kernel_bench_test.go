package embed

import "testing"

// BenchmarkKernels multiplies 60 tokens with 16 outputs of a 384-wide matrix.
func BenchmarkKernels(b *testing.B) {
	if !haveKernels {
		b.Skip("no kernels for this CPU")
	}
	const tokens, width, blocks = 60, 384, 384 / blockSize
	x := make([]float32, tokens*width)
	for i := range x {
		x[i] = float32(i%251)/125 - 1
	}
	var in input
	in.set(x, tokens, width, true)
	dst, bias, d := make([]float32, tokens*16), make([]float32, 16), make([]float32, 16*blocks)
	w8, w4 := make([]int8, 16*width), make([]uint8, 16*width)
	for i := range w8 {
		w8[i], w4[i] = int8(i%255-127), uint8(i%16)
	}
	run := func(name string, macs int, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
	run("q8", tokens*width*16, func() {
		for t := 0; t < tokens; t += tileTokens {
			q8Dot3(&dst[t*16], 64, &w8[0], &in.wide[t*width], 2*width, &in.scale[t*blocks], floatBytes(blocks), blocks, &bias[0], &bias[0])
		}
	})
	run("q4", tokens*width*16, func() {
		for t := 0; t < tokens; t += tileTokens {
			q4Dot3(&dst[t*16], 64, &w4[0], &d[0], &in.q[t*width], width, &in.scale[t*blocks], &in.corr[t*blocks], floatBytes(blocks), blocks, &bias[0])
		}
	})
	run("quantize", tokens*width, func() { in.set(x, tokens, width, true) })
	run("gelu", tokens*width, func() { gelu8(&x[0], len(x)/8, &geluConstants) })
	out := make([]float32, 4*16)
	run("gemm", 4*16*384, func() { gemm4x16(&out[0], 64, &x[0], floatBytes(384), &x[0], 64, 384) })
}
