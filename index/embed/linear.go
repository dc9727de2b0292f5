package embed

import "github.com/viterin/vek/vek32"

// tokenBlock is how many tokens are multiplied with a row of weights while that row is in the first-level cache.
const tokenBlock = 16

// linear is y = W x + b with W [out][in] in float32.
type linear struct {
	in, out int
	w       []float32
	bias    []float32
}

// apply writes W x + b for each of n tokens: x is [n][in], dst [n][out].
func (l *linear) apply(dst, x []float32, n int) {
	for t0 := 0; t0 < n; t0 += tokenBlock {
		t1 := min(n, t0+tokenBlock)
		for o := range l.out {
			w, b := l.w[o*l.in:(o+1)*l.in], l.bias[o]
			for t := t0; t < t1; t++ {
				dst[t*l.out+o] = vek32.Dot(w, x[t*l.in:(t+1)*l.in]) + b
			}
		}
	}
}
