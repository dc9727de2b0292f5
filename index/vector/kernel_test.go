package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/viterin/vek/vek32"
)

// checkDots compares the kernels with the product of the codes written out, and that they write no more than they should.
func checkDots(t *testing.T, r *rand.Rand, dims, groups int) {
	t.Helper()
	step, size, n := stride(dims), padded(dims), groups*rowGroup
	codes, q := make([]int8, n*step), make([]int8, size)
	at := make([]*int8, n)
	for i := range n {
		at[i] = &codes[r.IntN(n)*step]
		encode(randomUnit(r, dims), codes[i*step:][:size])
	}
	encode(randomUnit(r, dims), q)
	for j := range dims { // the ends of the range: nothing may saturate
		codes[j] = int8(127 - 254*(j%2))
		if groups%2 == 0 {
			q[j] = int8(127 - 254*(j%2))
		}
	}
	check := func(name string, got []float32, rows []*int8) {
		want := make([]float32, n)
		plainDots(want, rows, q)
		if got[n] != 7 || !slices.Equal(got[:n], want) {
			t.Fatalf("%s, dims %d, groups %d:\n got %v\nwant %v", name, dims, groups, got, want)
		}
	}
	got := make([]float32, n+1)
	got[n] = 7
	rowDots(&got[0], &at[0], groups, &q[0], size)
	check("rowDots", got, at)
	scanDots(&got[0], &codes[0], step, groups, &q[0], size)
	for i := range at {
		at[i] = &codes[i*step]
	}
	check("scanDots", got, at)
}

// checkAbove compares every answer of above with the plain form.
func checkAbove(t *testing.T, r *rand.Rand, n int) {
	t.Helper()
	scores, scales := make([]float32, (n+7)/8*8), make([]float32, (n+7)/8*8)
	for i := range scores {
		scores[i], scales[i] = float32(r.IntN(2000)-1000), r.Float32()
	}
	for _, bar := range []float32{float32(math.Inf(-1)), -300, 0, 500, 900, 1e9} {
		for from := range n + 1 {
			got := above(&scores[0], &scales[0], from, n, 1.5, bar)
			if want := plainAbove(scores[:n], scales[:n], from, 1.5, bar); got != want {
				t.Fatalf("%d scores from %d on, bar %v: %d, want %d", n, from, bar, got, want)
			}
		}
	}
}

func TestAbove(t *testing.T) {
	if !haveKernels {
		t.Skip("no kernels for this CPU")
	}
	r := rand.New(rand.NewPCG(3, 3))
	for n := 1; n < 40; n++ {
		checkAbove(t, r, n)
	}
	checkAbove(t, r, arenaRows)
}

func FuzzAbove(f *testing.F) {
	if !haveKernels {
		f.Skip("no kernels for this CPU")
	}
	f.Add(uint64(1), uint16(9))
	f.Fuzz(func(t *testing.T, seed uint64, n uint16) { checkAbove(t, rand.New(rand.NewPCG(seed, 4)), 1+int(n%300)) })
}

// checkCodes compares the kernels that make codes with the plain form.
func checkCodes(t *testing.T, r *rand.Rand, dims int) {
	t.Helper()
	v := randomUnit(r, dims)
	if r.IntN(3) == 0 {
		v[r.IntN(dims)] *= 50
	}
	got, want := make([]int8, padded(dims)), make([]int8, padded(dims))
	for i := range got {
		got[i] = 99
	}
	scale, loss := encodeInto(got, v)
	top := plainTop(v)
	sum := plainCodes(want, v, 1/(top/127), top/127)
	if wantLoss := math.Sqrt(float64(sum)) * (1 + 1e-4); scale != top/127 || math.Abs(loss-wantLoss) > 1e-5*wantLoss {
		t.Fatalf("dims %d: scale %v, loss %v, want %v and %v", dims, scale, loss, top/127, wantLoss)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("dims %d:\n got %v\nwant %v", dims, got, want)
	}
}

func TestCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for dims := 1; dims < 200; dims++ {
		checkCodes(t, r, dims)
	}
	checkCodes(t, r, 384)
	zero := make([]int8, 64)
	if scale, loss := encodeInto(zero, make([]float32, 64)); !(scale > 0) || loss != 0 || slices.Max(zero) != 0 {
		t.Errorf("zeros: scale %v, loss %v, codes %v", scale, loss, zero)
	}
}

func FuzzCodes(f *testing.F) {
	f.Add(uint64(1), uint16(384))
	f.Fuzz(func(t *testing.T, seed uint64, dims uint16) {
		checkCodes(t, rand.New(rand.NewPCG(seed, 5)), 1+int(dims%800))
	})
}

func TestDots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, dims := range []int{1, 31, 32, 33, 100, 384, 1000} {
		for groups := range 6 {
			checkDots(t, r, dims, 1+groups)
		}
	}
}

func FuzzDots(f *testing.F) {
	f.Add(uint64(1), uint16(384), uint8(3))
	f.Add(uint64(2), uint16(5), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, dims uint16, groups uint8) {
		checkDots(t, rand.New(rand.NewPCG(seed, 1)), 1+int(dims%800), 1+int(groups%9))
	})
}

// TestSlackIsABound checks what the exactness of the scan rests on.
func TestSlackIsABound(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		dims := 1 + r.IntN(500)
		x, y := randomUnit(r, dims), randomUnit(r, dims)
		if r.IntN(2) == 0 {
			y = x
		}
		a, b := encode(x, make([]int8, padded(dims))), encode(y, make([]int8, padded(dims)))
		var sum int32
		for i := range a.values {
			sum += int32(a.values[i]) * int32(b.values[i])
		}
		approx := float64(sum) * float64(a.scale) * float64(b.scale)
		if limit := a.loss + b.loss*(1+a.loss) + 1e-6; math.Abs(approx-float64(vek32.Dot(x, y))) > limit {
			t.Fatalf("dims %d: %v by codes, %v by values, bound %v", dims, approx, vek32.Dot(x, y), limit)
		}
	}
}
