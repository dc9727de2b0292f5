package world

import (
	"context"
	"sync"
)

// Run lets every agent work through its tasks, all agents at once and each in its own order, and returns the episodes by
// agent. m may be nil. done, if not nil, is called after each episode by one goroutine at a time. The first error stops
// all agents and is returned.
func Run(ctx context.Context, seed uint64, agents []Agent, tasks map[string][]Task, m Memory, done func(Episode)) (map[string][]Episode, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		out = make(map[string][]Episode, len(agents))
	)
	finish := func(ep Episode) {
		mu.Lock()
		defer mu.Unlock()
		out[ep.Agent.ID] = append(out[ep.Agent.ID], ep)
		if done != nil {
			done(ep)
		}
	}
	for _, a := range agents {
		wg.Go(func() {
			for _, t := range tasks[a.ID] {
				ep, err := a.Work(ctx, seed, t, m)
				if err != nil {
					cancel(err)
					return
				}
				finish(ep)
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	return out, context.Cause(ctx)
}
