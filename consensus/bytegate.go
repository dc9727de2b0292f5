package consensus

import (
	"context"
	"sync"
)

// byteGate bounds the bytes of commands in flight. Callers pass in the order
// in which they came.
type byteGate struct {
	capacity int

	mu    sync.Mutex
	used  int
	queue []*gateTicket
}

type gateTicket struct {
	n     int
	ready chan struct{}
}

// enter takes n bytes, at most the capacity, and waits until they are free.
func (g *byteGate) enter(ctx context.Context, n int) error {
	g.mu.Lock()
	if len(g.queue) == 0 && g.used+n <= g.capacity {
		g.used += n
		g.mu.Unlock()
		return nil
	}
	t := &gateTicket{n: n, ready: make(chan struct{})}
	g.queue = append(g.queue, t)
	g.mu.Unlock()

	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return g.abandon(t, ctx.Err())
	}
}

// abandon takes t out of the queue, or gives back what it was handed meanwhile.
func (g *byteGate) abandon(t *gateTicket, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, q := range g.queue {
		if q == t {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)
			g.admitLocked()
			return err
		}
	}
	g.used -= t.n
	g.admitLocked()
	return err
}

// leave gives n bytes back.
func (g *byteGate) leave(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.used -= n
	g.admitLocked()
}

func (g *byteGate) admitLocked() {
	for len(g.queue) > 0 && g.used+g.queue[0].n <= g.capacity {
		t := g.queue[0]
		g.queue = g.queue[1:]
		g.used += t.n
		close(t.ready)
	}
}
