package consensus

import (
	"sync"

	"github.com/hashicorp/raft"
)

// pipeline is raft's pipeline of appends to one follower.
//
// Raft's own hands an answer over before it takes the next request, and raft
// stops listening to answers after one that ends the pipeline. A request that
// comes at that moment waits for ever: the follower gets nothing any more, and a
// shutdown waits with it. So answers are always taken, and kept until raft asks.
type pipeline struct {
	inner   raft.AppendPipeline
	prepare func(*raft.AppendEntriesRequest)
	answers chan raft.AppendFuture
	stop    chan struct{}
	once    sync.Once
	running sync.WaitGroup
}

func newPipeline(inner raft.AppendPipeline, prepare func(*raft.AppendEntriesRequest)) *pipeline {
	p := &pipeline{inner: inner, prepare: prepare, answers: make(chan raft.AppendFuture), stop: make(chan struct{})}
	p.running.Go(p.collect)
	return p
}

// collect takes answers until the pipeline is closed.
func (p *pipeline) collect() {
	var kept []raft.AppendFuture
	for {
		var out chan<- raft.AppendFuture
		var first raft.AppendFuture
		if len(kept) > 0 {
			out, first = p.answers, kept[0]
		}
		select {
		case f := <-p.inner.Consumer():
			kept = append(kept, f)
		case out <- first:
			kept = kept[1:]
		case <-p.stop:
			return
		}
	}
}

// AppendEntries implements raft.AppendPipeline.
func (p *pipeline) AppendEntries(args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	p.prepare(args)
	return p.inner.AppendEntries(args, resp)
}

// Consumer implements raft.AppendPipeline.
func (p *pipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close implements raft.AppendPipeline. It is idempotent.
func (p *pipeline) Close() error {
	p.once.Do(func() { close(p.stop) })
	err := p.inner.Close()
	p.running.Wait()
	return err
}
