package consensus

import (
	"testing"

	"github.com/hashicorp/raft"
)

// eagerPipeline takes a request only when the answer before has been taken, as
// raft's does.
type eagerPipeline struct{ answers chan raft.AppendFuture }

type answered struct {
	raft.AppendFuture
	args *raft.AppendEntriesRequest
}

func (p *eagerPipeline) AppendEntries(args *raft.AppendEntriesRequest, _ *raft.AppendEntriesResponse) (raft.AppendFuture, error) {
	f := answered{args: args}
	p.answers <- f
	return f, nil
}

func (p *eagerPipeline) Consumer() <-chan raft.AppendFuture { return p.answers }
func (p *eagerPipeline) Close() error                       { return nil }

// TestPipelineTakesAnswersNobodyReads: a sender must not wait for a reader that
// has ended.
func TestPipelineTakesAnswersNobodyReads(t *testing.T) {
	p := newPipeline(&eagerPipeline{make(chan raft.AppendFuture)}, func(args *raft.AppendEntriesRequest) { args.Term = 7 })
	const n = 20
	for i := range uint64(n) {
		if _, err := p.AppendEntries(&raft.AppendEntriesRequest{PrevLogEntry: i}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(n / 2) {
		if got := (<-p.Consumer()).(answered).args; got.PrevLogEntry != i || got.Term != 7 {
			t.Errorf("answer %d: got %+v", i, got)
		}
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
