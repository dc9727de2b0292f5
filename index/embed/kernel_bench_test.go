package embed

import "testing"

// BenchmarkKernels multiplies 60 tokens with 32 outputs of a 384-wide matrix.
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
	dst, bias, d := make([]float32, tokens*32), make([]float32, 32), make([]float32, 32*blocks)
	w8, w4 := make([]int8, 32*width), make([]uint8, 32*width)
	wide := make([]uint8, blocks)
	for i := range w8 {
		w8[i], w4[i] = int8(i%255-127), uint8(i%16)
	}
	for i := range wide {
		wide[i] = 1 << (i % 4) // about as often as in real weights
	}
	run := func(name string, macs int, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(macs)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
	run("q8", tokens*width*32, func() {
		for t := 0; t < tokens; t += q8Tokens {
			q8Dot2(&dst[t*32], 128, &w8[0], &wide[0], &in.split[2*t*width], 2*width, &in.scale[t*blocks], &in.below[t*blocks], floatBytes(blocks), blocks, &bias[0], &bias[0])
		}
	})
	run("q4", tokens*width*32, func() {
		for o := 0; o < 32; o += q4Outputs {
			for t := 0; t < tokens; t += q4Tokens {
				q4Dot3(&dst[t*32+o], 128, &w4[o*width], &d[o*blocks], &in.q[t*width], width, &in.scale[t*blocks], &in.corr[t*blocks], floatBytes(blocks), blocks, &bias[o])
			}
		}
	})
	run("quantize", tokens*width, func() { in.set(x, tokens, width, true) })
	run("gelu", tokens*width, func() { gelu8(&x[0], len(x)/8, &geluConstants) })
	out := make([]float32, 4*16)
	run("gemm", 4*16*384, func() { gemm4x16(&out[0], 64, &x[0], floatBytes(384), &x[0], 64, 384) })
}
