package embed

import (
	"context"
	"sync"
)

// slots limits the forward passes that run at once. Bulk work gets at most bulk of them, so that total-bulk are always
// there for queries; a freed slot goes to a waiting query before it goes to waiting bulk work. Safe for concurrent use.
type slots struct {
	total, bulk int

	mu       sync.Mutex
	used     int // slots taken
	usedBulk int // of these by bulk work
	queries  []chan struct{}
	jobs     []chan struct{}
}

// acquire waits for a slot or for the end of ctx.
func (s *slots) acquire(ctx context.Context, bulk bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.freeLocked(bulk) {
		s.takeLocked(bulk)
		s.mu.Unlock()
		return nil
	}
	ready := make(chan struct{})
	queue := s.queueLocked(bulk)
	*queue = append(*queue, ready)
	s.mu.Unlock()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		s.abandon(ready, bulk)
		return ctx.Err()
	}
}

// release gives a slot back and hands it on.
func (s *slots) release(bulk bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	if bulk {
		s.usedBulk--
	}
	s.wakeLocked()
}

// abandon leaves the queue; when the slot was handed over at that very moment it goes on to the next.
func (s *slots) abandon(ready chan struct{}, bulk bool) {
	s.mu.Lock()
	queue := s.queueLocked(bulk)
	for i, c := range *queue {
		if c == ready {
			*queue = append((*queue)[:i], (*queue)[i+1:]...)
			s.mu.Unlock()
			return
		}
	}
	s.mu.Unlock()
	s.release(bulk)
}

func (s *slots) wakeLocked() {
	for _, bulk := range []bool{false, true} {
		queue := s.queueLocked(bulk)
		for len(*queue) > 0 && s.freeLocked(bulk) {
			s.takeLocked(bulk)
			close((*queue)[0])
			*queue = (*queue)[1:]
		}
	}
}

func (s *slots) queueLocked(bulk bool) *[]chan struct{} {
	if bulk {
		return &s.jobs
	}
	return &s.queries
}

func (s *slots) freeLocked(bulk bool) bool {
	return s.used < s.total && (!bulk || s.usedBulk < s.bulk)
}

func (s *slots) takeLocked(bulk bool) {
	s.used++
	if bulk {
		s.usedBulk++
	}
}
