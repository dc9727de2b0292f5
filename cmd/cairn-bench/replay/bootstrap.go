package replay

import (
	"math/rand/v2"
	"slices"
)

const resamples = 2000

// interval is the 95 % interval of the mean of values[seed][task], resampling seeds and tasks both: over tasks alone it
// would be far too narrow, because what a run learns is shared by all its tasks.
func interval(values [][]float64, seed uint64) (low, high float64) {
	rng := rand.New(rand.NewPCG(seed, 0xb007))
	means := make([]float64, resamples)
	for i := range means {
		tasks := make([]int, len(values[0]))
		for j := range tasks {
			tasks[j] = rng.IntN(len(tasks))
		}
		for range values {
			row := values[rng.IntN(len(values))]
			for _, t := range tasks {
				means[i] += row[t]
			}
		}
		means[i] /= float64(len(values) * len(tasks))
	}
	slices.Sort(means)
	return means[resamples*25/1000], means[resamples*975/1000]
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
