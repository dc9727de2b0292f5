package world

import "math"

// Rate is a share of successes with its 95 % Wilson score interval (Wilson 1927), which treats tasks as independent.
type Rate struct {
	Success   float64
	Low, High float64
	Tasks     int
}

// z95 is the two-sided 95 % quantile of the standard normal distribution.
const z95 = 1.959964

// NewRate computes the rate of k successes in n tasks. Without tasks the interval is [0, 1].
func NewRate(k, n int) Rate {
	if n == 0 {
		return Rate{High: 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	mid := (p + z95*z95/(2*m)) / (1 + z95*z95/m)
	half := z95 / (1 + z95*z95/m) * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	return Rate{Success: p, Low: max(0, mid-half), High: min(1, mid+half), Tasks: n}
}

// Table is the success of one arm: over all tasks and by quarter of each agent's own tasks.
type Table struct {
	All      Rate
	Quarters [4]Rate
}

// Tabulate counts the episodes of honest agents.
func Tabulate(episodes map[string][]Episode) Table {
	var won, tried [4]int
	for _, eps := range episodes {
		for i, ep := range eps {
			if ep.Agent.Liar {
				continue
			}
			q := 4 * i / len(eps)
			tried[q]++
			if ep.Attempt.Success {
				won[q]++
			}
		}
	}
	var t Table
	var k, n int
	for q := range 4 {
		t.Quarters[q] = NewRate(won[q], tried[q])
		k, n = k+won[q], n+tried[q]
	}
	t.All = NewRate(k, n)
	return t
}
