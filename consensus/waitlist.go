package consensus

import (
	"container/heap"
	"context"
	"sync"
)

// waitList wakes callers once an index has been applied.
type waitList struct {
	mu      sync.Mutex
	reached uint64
	err     error // set once apply is over for good
	heap    waitHeap
}

type waiter struct {
	index uint64
	done  chan struct{}
	pos   int // in the heap, -1 once it has left it
}

// wait returns nil when index has been reached, the list's final error, or
// ctx's.
func (l *waitList) wait(ctx context.Context, index uint64) error {
	l.mu.Lock()
	if l.reached >= index || l.err != nil {
		defer l.mu.Unlock()
		return l.resultLocked(index)
	}
	w := &waiter{index: index, done: make(chan struct{})}
	heap.Push(&l.heap, w)
	l.mu.Unlock()

	select {
	case <-w.done:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.resultLocked(index)
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.pos >= 0 {
			heap.Remove(&l.heap, w.pos)
		}
		return ctx.Err()
	}
}

func (l *waitList) resultLocked(index uint64) error {
	if l.reached >= index {
		return nil
	}
	return l.err
}

// advance wakes everyone who waits for index or less.
func (l *waitList) advance(index uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reached = max(l.reached, index)
	for len(l.heap) > 0 && l.heap[0].index <= l.reached {
		close(heap.Pop(&l.heap).(*waiter).done)
	}
}

// fail wakes everyone with err and answers later waits for more than what has
// been reached with it. The first error stays.
func (l *waitList) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}
	for len(l.heap) > 0 {
		close(heap.Pop(&l.heap).(*waiter).done)
	}
}

// waitHeap orders waiters by index for container/heap.
type waitHeap []*waiter

func (h waitHeap) Len() int           { return len(h) }
func (h waitHeap) Less(i, j int) bool { return h[i].index < h[j].index }
func (h waitHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i, j
}

func (h *waitHeap) Push(x any) {
	w := x.(*waiter)
	w.pos = len(*h)
	*h = append(*h, w)
}

func (h *waitHeap) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.pos = -1
	return w
}
