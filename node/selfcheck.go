package node

import (
	"maps"
	"sync"
	"time"

	"cairn/index"
)

const (
	checkEvery   = time.Minute
	checkSamples = 25
	checkNearest = 10
)

// selfCheck compares searches of the pools that have a graph with exact ones, at most once in checkEvery: an exact search
// reads all vectors of a pool.
type selfCheck struct {
	measure func() map[poolKey]float64
	clock   func() time.Time

	mu   sync.Mutex // guards below; held while it measures, so that those who ask at once wait for one answer
	at   time.Time
	last map[poolKey]float64
}

// get is the share of true neighbours found in each pool with a graph.
func (s *selfCheck) get() map[poolKey]float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock(); s.at.IsZero() || now.Sub(s.at) >= checkEvery {
		s.at, s.last = now, s.measure()
	}
	return maps.Clone(s.last)
}

// worst is the least of the pools; 1 where every search is exact.
func (s *selfCheck) worst() float64 {
	out := 1.
	for _, recall := range s.get() {
		out = min(out, recall)
	}
	return out
}

// all lists the pools as they stand.
func (f *follower) all() map[poolKey]*index.Pool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.pools)
}

// graphRecall measures the pools that have a graph.
func (f *follower) graphRecall() map[poolKey]float64 {
	out := map[poolKey]float64{}
	for key, pool := range f.all() {
		graph := 0
		for _, space := range pool.Stats().Spaces {
			graph += space.Graph
		}
		if graph > 0 {
			out[key] = pool.Recall(checkSamples, checkNearest)
		}
	}
	return out
}
