package bar

import (
	"math"
	"testing"
)

func TestHolds(t *testing.T) {
	for _, c := range []struct {
		value float64
		op    string
		bar   float64
		want  bool
	}{
		{1, "<=", 1, true}, {1.1, "<=", 1, false}, {1, ">=", 1, true}, {.9, ">=", 1, false}, {1.1, ">", 1, true}, {1, ">", 1, false},
		{math.NaN(), "<=", 1, false}, {math.NaN(), ">=", 1, false}, {math.NaN(), "", 0, true}, {1, "", 2, true}, {1, "=", 1, false},
	} {
		if got := Holds(c.value, c.op, c.bar); got != c.want {
			t.Errorf("%v %s %v: %v", c.value, c.op, c.bar, got)
		}
	}
}
