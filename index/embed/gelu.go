package embed

import (
	"math"
	"sync"
)

// The table of gelu covers [-geluRange, geluRange] in steps of 1/geluSteps. Between two entries it is linear: the error is
// at most max|gelu”|/8/geluSteps^2 = 3.8e-7. Outside gelu(x) is 0 or x within 1e-8.
const (
	geluRange = 6
	geluSteps = 512
)

var geluTable = sync.OnceValue(func() *[2*geluRange*geluSteps + 2]float32 {
	var t [2*geluRange*geluSteps + 2]float32
	for i := range t {
		x := float64(i)/geluSteps - geluRange
		t[i] = float32(x / 2 * (1 + math.Erf(x/math.Sqrt2)))
	}
	return &t
})

// gelu replaces x by x/2 (1 + erf(x/sqrt 2)).
func gelu(x []float32) {
	table := geluTable()
	for i, v := range x {
		switch {
		case v >= geluRange:
		case !(v > -geluRange):
			x[i] = 0
		default:
			at := (v + geluRange) * geluSteps
			j := int(at)
			low := table[j]
			x[i] = low + (table[j+1]-low)*(at-float32(j))
		}
	}
}

// geluConstants are used by gelu8: erf a = 1 - (a1 t + ... + a5 t^5) e^(-a a) with t = 1/(1 + p a) (Abramowitz and Stegun
// 7.1.26, error 1.5e-7), and e^x by x = n ln 2 + r and the polynomial of the Cephes library for e^r.
var geluConstants = [20]float32{
	math.Sqrt2 / 2, .3275911, 1,
	1.061405429, -1.453152027, 1.421413741, -.284496736, .254829592,
	80, -math.Log2E, 0, -.693359375, 2.12194440e-4,
	1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
	.5,
}
