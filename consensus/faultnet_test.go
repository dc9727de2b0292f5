package consensus

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

var errLost = errors.New("lost by the test")

// faultNet loses, delays and repeats messages between the nodes of a test. A
// cut is one-way: from one address to another.
type faultNet struct {
	mu       sync.Mutex
	rng      *rand.Rand
	cuts     map[[2]string]bool
	isolated map[string]bool
	lose     float64 // share of requests and of answers
	repeat   float64
	maxDelay time.Duration
}

func newFaultNet() *faultNet {
	return &faultNet{rng: rand.New(rand.NewPCG(1, 1)), cuts: map[[2]string]bool{}, isolated: map[string]bool{}}
}

// node is the view of the node at addr.
func (f *faultNet) node(addr string) *faults {
	return &faults{
		onRequest: func(to string) error { return f.pass(addr, to) },
		onAnswer:  func(to string) error { return f.pass(to, addr) },
		repeat:    func() bool { return f.chance(func() float64 { return f.repeat }) },
	}
}

func (f *faultNet) pass(from, to string) error {
	f.mu.Lock()
	lost := from != to && (f.cuts[[2]string{from, to}] || f.isolated[from] || f.isolated[to] || f.rng.Float64() < f.lose)
	var delay time.Duration
	if f.maxDelay > 0 && from != to {
		delay = time.Duration(f.rng.Int64N(int64(f.maxDelay)))
	}
	f.mu.Unlock()
	if delay > 0 {
		<-time.After(delay)
	}
	if lost {
		return errLost
	}
	return nil
}

func (f *faultNet) chance(p func() float64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rng.Float64() < p()
}

func (f *faultNet) isolate(addr string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isolated[addr] = true
}

func (f *faultNet) cut(from, to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cuts[[2]string{from, to}] = true
}

func (f *faultNet) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.cuts)
	clear(f.isolated)
	f.lose, f.repeat, f.maxDelay = 0, 0, 0
}

// degrade loses, repeats and delays everywhere.
func (f *faultNet) degrade(lose, repeat float64, maxDelay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose, f.repeat, f.maxDelay = lose, repeat, maxDelay
}
