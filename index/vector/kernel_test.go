package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/viterin/vek/vek32"
)

// checkDots compares codeDots with the product of the codes written out.
func checkDots(t *testing.T, r *rand.Rand, dims, groups int) {
	t.Helper()
	a, rows := newArena(dims), make([]*int8, groups*rowGroup)
	for i := range rows {
		at := r.IntN(arenaRows)
		a.put(at, randomUnit(r, dims))
		if i == 0 {
			for j := range dims {
				a.codes[at*(padded(dims)+trailer)+j] = int8(127 - 254*(j%2)) // the ends of the range: nothing may saturate
			}
		}
		rows[i] = a.at[at]
	}
	q := encode(randomUnit(r, dims), make([]int8, padded(dims)))
	if r.IntN(2) == 0 {
		for j := range dims {
			q.values[j] = int8(127 - 254*(j%2))
		}
	}
	out := make([]float32, len(rows)+1)
	codeDots(&out[0], &rows[0], groups, &q.values[0], padded(dims)/codeBlock, q.scale)
	for i, p := range rows {
		var sum int32
		var c code
		for j := range arenaRows {
			if a.at[j] == p {
				c = a.code(j, dims)
			}
		}
		for j := range dims {
			sum += int32(c.values[j]) * int32(q.values[j])
		}
		want := float64(sum) * float64(c.scale) * float64(q.scale)
		if !(math.Abs(float64(out[i])-want) <= 1e-6*math.Abs(want)+1e-9) {
			t.Fatalf("dims %d, groups %d, row %d: %v, want %v", dims, groups, i, out[i], want)
		}
	}
	if out[len(rows)] != 0 {
		t.Fatal("wrote beyond the rows")
	}
}

func TestCodeDots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, dims := range []int{1, 31, 32, 33, 100, 384, 1000} {
		for groups := 1; groups < 5; groups++ {
			checkDots(t, r, dims, groups)
		}
	}
}

func FuzzCodeDots(f *testing.F) {
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
