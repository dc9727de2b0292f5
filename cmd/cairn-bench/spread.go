package main

import "slices"

// spread gives the least value, the median and the greatest value; zeros for none.
func spread(values []float64) (low, mid, high float64) {
	if len(values) == 0 {
		return 0, 0, 0
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	mid = s[n/2]
	if n%2 == 0 {
		mid = (s[n/2-1] + s[n/2]) / 2
	}
	return s[0], mid, s[n-1]
}

// quantile is the value that a share q of the values does not exceed, by the nearest-rank rule.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	i := int(q*float64(len(s))+.999999) - 1
	return s[min(max(i, 0), len(s)-1)]
}
