package embed

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// The plain forms of the kernels, straight from the formulas.

func plainQuantize(x []float32) (q []int32, scale float32) {
	for _, v := range x {
		scale = max(scale, float32(math.Abs(float64(v))))
	}
	scale = max(scale, 127e-30)
	for _, v := range x {
		q = append(q, int32(math.RoundToEven(float64(v*(127/scale)))))
	}
	return q, scale / 127
}

// plainLinear is y = W x + b with x quantised in blocks; weight gives w[o][i].
func plainLinear(x []float32, out, width int, weight func(o, i int) float64, bias []float32) []float64 {
	n := len(x) / width
	y := make([]float64, n*out)
	for t := range n {
		for k := 0; k < width; k += blockSize {
			q, scale := plainQuantize(x[t*width+k:][:blockSize])
			for o := range out {
				for i := range q {
					y[t*out+o] += weight(o, k+i) * float64(q[i]) * float64(scale)
				}
			}
		}
		for o := range out {
			y[t*out+o] += float64(bias[o])
		}
	}
	return y
}

func randomFloats(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	size := float32(math.Exp(8 * (r.Float64() - .5)))
	for i := range x {
		x[i] = size * float32(r.NormFloat64())
	}
	switch r.IntN(6) {
	case 0:
		clear(x[:min(n, blockSize)])
	case 1:
		x[r.IntN(n)] *= 1000
	case 2: // all at the ends of the range
		for i := range x {
			x[i] = float32(math.Copysign(float64(size), float64(x[i])))
		}
	}
	return x
}

func floatBits(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// padded copies x to a buffer with room for padTokens.
func padded(x []float32, n, width int) []float32 {
	return append(append([]float32(nil), x...), make([]float32, (roundUp(n, padTokens)-n)*width)...)
}

func checkMatrix(t *testing.T, r *rand.Rand, n, out, width int, four bool) {
	t.Helper()
	w, bias := rows{out: out, in: width}, randomFloats(r, out)
	raw := make([]byte, out*width)
	end := [4]int{127, 64, 63, 30}[r.IntN(4)] // steps of 63 and -64 are narrow and fill their words
	for i := range raw {
		x := r.IntN(2*end+1) - end
		if r.IntN(4) == 0 || r.IntN(2) == 0 && end == 63 {
			x = [2]int{end, -end - 1}[r.IntN(2)] // the ends of the range: nothing may saturate
		}
		raw[i] = byte(x)
	}
	if four {
		for i := 0; i < out*width; i += blockSize {
			w.q4 = binary.LittleEndian.AppendUint16(w.q4, uint16(0x1000+r.IntN(0x3000)))
			w.q4 = append(w.q4, raw[i:i+blockSize/2]...)
		}
	} else {
		w.q8, w.scale = raw, randomFloats(r, out)
	}
	dense := w.floats()
	x := randomFloats(r, n*width)
	var in input
	in.set(padded(x, n, width), n, width, true)
	got := make([]float32, roundUp(n, padTokens)*out)
	newMatrix(w, bias, formInt8).apply(got, &in)
	want := plainLinear(x, out, width, func(o, i int) float64 { return float64(dense[o*width+i]) }, bias)
	for i, y := range want {
		t0, o := i/out, i%out
		var size float64 // of the summands: what rounding is relative to
		for j := range width {
			size += math.Abs(float64(dense[o*width+j]) * float64(x[t0*width+j]))
		}
		if !(math.Abs(float64(got[i])-y) <= 1e-5*(size+math.Abs(float64(bias[o])))) {
			t.Fatalf("n %d, out %d, in %d, four bits %v: token %d, output %d: %v, want %v", n, out, width, four, t0, o, got[i], y)
		}
	}
}

func needKernels(t testing.TB) {
	t.Helper()
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
}

func TestMatrixKernels(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= 14; n++ {
		checkMatrix(t, r, n, q8Outputs*(1+n%3), blockSize*(1+n%5), n%2 == 0)
		checkMatrix(t, r, n, q8Outputs, 384, n%2 == 1)
	}
	checkMatrix(t, r, 5, 32, 1536, true)
	checkMatrix(t, r, 5, 32, 1536, false)
}

func FuzzMatrixKernels(f *testing.F) {
	needKernels(f)
	f.Add(uint64(1), uint8(3), uint8(1), uint8(1), true)
	f.Add(uint64(2), uint8(13), uint8(2), uint8(12), false)
	f.Fuzz(func(t *testing.T, seed uint64, n, out, blocks uint8, four bool) {
		r := rand.New(rand.NewPCG(seed, 2))
		checkMatrix(t, r, 1+int(n%30), q8Outputs*(1+int(out%4)), blockSize*(1+int(blocks%48)), four)
	})
}

func checkQuantize(t *testing.T, x []float32) {
	t.Helper()
	blocks := len(x) / blockSize
	q, split := make([]int8, len(x)), make([]int8, 2*len(x))
	scale, corr, below := make([]float32, blocks), make([]int32, blocks), make([]int32, blocks)
	quantizeBlocks(&q[0], &split[0], &scale[0], &corr[0], &below[0], &x[0], blocks)
	for b := range blocks {
		want, wantScale := plainQuantize(x[b*blockSize:][:blockSize])
		if math.Abs(float64(scale[b]-wantScale)) > 1e-6*float64(wantScale) {
			t.Fatalf("block %d: scale %v, want %v", b, scale[b], wantScale)
		}
		var sum, under int32
		for i, w := range want {
			at := b*blockSize + i
			size, mask := split[at/4*8+at%4], split[at/4*8+4+at%4]
			if int32(q[at]) != w || int32(size) != max(w, -w) || (mask == -1) != (w < 0) || mask != 0 && mask != -1 {
				t.Fatalf("value %v: %d, split %d and %d, want %d", x[at], q[at], size, mask, w)
			}
			sum, under = sum+w, under+max(0, -w)
		}
		if corr[b] != -8*sum || below[b] != under {
			t.Fatalf("block %d: corrections %d and %d, want %d and %d", b, corr[b], below[b], -8*sum, under)
		}
	}
}

func FuzzQuantize(f *testing.F) {
	needKernels(f)
	f.Add(floatBits([]float32{1, -2, .5, 0, 3}))
	f.Add(make([]byte, 4*70))
	f.Fuzz(func(t *testing.T, data []byte) {
		n := roundUp(max(1, len(data)/4), blockSize)
		x := make([]float32, n)
		for i := range len(data) / 4 {
			v := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			if a := math.Abs(float64(v)); a < 1e30 && (a > 1e-25 || a == 0) { // what activations can be
				x[i] = v
			}
		}
		checkQuantize(t, x)
	})
}

func checkGemm(t *testing.T, r *rand.Rand, k, gap int) {
	t.Helper()
	as, bs, ds := k+gap, tileColumns+gap, tileColumns+2*gap
	a, b, d := randomFloats(r, tileRows*as), randomFloats(r, k*bs), make([]float32, tileRows*ds)
	gemm4x16(&d[0], floatBytes(ds), &a[0], floatBytes(as), &b[0], floatBytes(bs), k)
	for i := range d {
		row, col := i/ds, i%ds
		if col >= tileColumns {
			if d[i] != 0 {
				t.Fatalf("k %d: wrote beyond the tile", k)
			}
			continue
		}
		var sum, size float64
		for j := range k {
			p := float64(a[row*as+j]) * float64(b[j*bs+col])
			sum, size = sum+p, size+math.Abs(p)
		}
		if !(math.Abs(float64(d[i])-sum) <= 1e-5*size) {
			t.Fatalf("k %d, row %d, column %d: %v, want %v", k, row, col, d[i], sum)
		}
	}
}

func FuzzGemm(f *testing.F) {
	needKernels(f)
	f.Add(uint64(1), uint16(1), uint8(0))
	f.Add(uint64(2), uint16(33), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, k uint16, gap uint8) {
		checkGemm(t, rand.New(rand.NewPCG(seed, 3)), 1+int(k%600), int(gap%40))
	})
}

func FuzzGelu(f *testing.F) {
	f.Add(float32(0), float32(.01))
	f.Add(float32(-7), float32(.3))
	f.Add(float32(1e20), float32(-1e19))
	f.Fuzz(func(t *testing.T, start, step float32) {
		x, y := make([]float32, 64), make([]float32, 64)
		for i := range x {
			v := start + float32(i)*step
			if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 1e30 {
				return
			}
			x[i], y[i] = v, v
		}
		gelu(y)
		z := append([]float32(nil), x...)
		if haveKernels {
			gelu8(&z[0], len(z)/8, &geluConstants)
		} else {
			gelu(z)
		}
		for i, v := range x {
			want := float64(v) / 2 * (1 + math.Erf(float64(v)/math.Sqrt2))
			if limit := 1e-6 * max(1, math.Abs(float64(v))); math.Abs(float64(y[i])-want) > limit || math.Abs(float64(z[i])-want) > limit {
				t.Fatalf("gelu(%v) = %v and %v, want %v", v, y[i], z[i], want)
			}
		}
	})
}

// checkSoftmax compares softmaxTiles with the formula, and that no other row is written to.
func checkSoftmax(t *testing.T, r *rand.Rand, n, gap int, size float64) {
	t.Helper()
	width := roundUp(n, tileColumns) + gap
	att := make([]float32, (n+1)*width)
	for i := range att {
		att[i] = float32(size * r.NormFloat64())
	}
	before := append([]float32(nil), att...)
	softmaxTiles(att, n, width)
	for i, x := range before {
		row, column := i/width, i%width
		switch {
		case row == n || column >= roundUp(n, 8):
			if att[i] != x {
				t.Fatalf("n %d: wrote row %d, column %d", n, row, column)
			}
		case column < n:
			var top, sum float64 = math.Inf(-1), 0
			for _, v := range before[row*width:][:n] {
				top = max(top, float64(v))
			}
			for _, v := range before[row*width:][:n] {
				sum += math.Exp(float64(v) - top)
			}
			// The exponent is as exact as the difference of two float32.
			limit := 1e-6 + 2e-7*(math.Abs(float64(x))+math.Abs(top))
			if want := math.Exp(float64(x)-top) / sum; !(math.Abs(float64(att[i])-want) <= limit*want+1e-30) {
				t.Fatalf("n %d, row %d, column %d: %v, want %v", n, row, column, att[i], want)
			}
		}
	}
}

func TestSoftmaxKernel(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(8, 8))
	for n := 1; n < 70; n++ {
		checkSoftmax(t, r, n, n%3, [3]float64{.1, 4, 60}[n%3])
	}
}

func FuzzSoftmax(f *testing.F) {
	needKernels(f)
	f.Add(uint64(1), uint8(9), uint8(0), float32(1))
	f.Fuzz(func(t *testing.T, seed uint64, n, gap uint8, size float32) {
		if s := math.Abs(float64(size)); s < 1e30 {
			checkSoftmax(t, rand.New(rand.NewPCG(seed, 8)), 1+int(n%90), int(gap%20), s)
		}
	})
}

// TestFormsAgree compares the whole forward pass of both forms on lengths around the tile sizes.
func TestFormsAgree(t *testing.T) {
	needKernels(t)
	for _, id := range []string{MiniLM, E5} {
		slow, err := loaded(id, formFloat)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := modelOf(id)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, 5))
		for n := 2; n < 40; n += 1 + n/6 {
			ids := []int32{slow.cfg.BOS}
			for len(ids) < n-1 {
				ids = append(ids, int32(1000+r.IntN(20000)))
			}
			ids = append(ids, slow.cfg.EOS)
			x, err := slow.forward(t.Context(), [][]int32{ids})
			if err != nil {
				t.Fatal(err)
			}
			y, err := fast.forward(t.Context(), [][]int32{ids})
			if err != nil {
				t.Fatal(err)
			}
			if _, cos := compare(x[0], y[0]); cos < .995 {
				t.Errorf("%s, %d tokens: cosine of the forms %v", id, n, cos)
			}
		}
	}
}
