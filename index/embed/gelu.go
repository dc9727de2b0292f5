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
