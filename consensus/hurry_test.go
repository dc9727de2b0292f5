package consensus

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

func TestNewsOfCommitsIsOrdered(t *testing.T) {
	var h hurrier
	for _, told := range []committedAt{{2, 10, 2}, {2, 9, 2}, {1, 50, 1}, {3, 4, 3}, {2, 90, 2}} {
		h.tell(told)
	}
	if got, want := h.lastTold(), (committedAt{3, 4, 3}); got != want {
		t.Errorf("last word: got %+v, want %+v", got, want)
	}
}

// TestForwardedWriteIsAppliedByItsAnswer hides the leader's other news: ordinary
// appends come after an hour, and questions for the commit index are lost.
func TestForwardedWriteIsAppliedByItsAnswer(t *testing.T) {
	var lose atomic.Bool
	c := newCluster(t, 3, func(_ int, cfg *Config) {
		cfg.commitTimeout = time.Hour
		cfg.faults = &faults{onCall: func(method byte) error {
			if method == methodCommit && lose.Load() {
				return errors.New("lost")
			}
			return nil
		}}
	})
	n := c.nodes[c.follower()]
	lose.Store(true)
	for range 20 {
		n.do(kvCommand{Op: "inc", Key: "n"})
	}
	if got := n.kv.value("n"); got != "20" {
		t.Errorf("counter: got %s, want 20", got)
	}
	// News of another term, or of an entry that is not here, changes nothing.
	told := n.hurrier.lastTold()
	for _, bad := range []committedAt{
		{told.term + 1, told.index + 1, told.term}, {told.term, told.index + 1000, told.term}, {told.term, told.index + 1, told.term + 1},
	} {
		if n.passOn(bad) {
			t.Errorf("%+v was passed on at index %d", bad, told.index)
		}
	}
}

// TestCallEndsWithTheReign holds an answer back until the leader is another.
func TestCallEndsWithTheReign(t *testing.T) {
	c := newCluster(t, 3, nil)
	leader, follower := c.leader(), c.follower()
	n := c.nodes[follower]
	id, _ := n.leaderAt(n.inst.Load().raft)
	over := n.reigns.of(n.Group, id)
	select {
	case <-over:
		t.Fatal("the reign of the leader is over")
	default:
	}
	if again := n.reigns.of(n.Group, id); again != over {
		t.Error("two calls to one leader have two reigns")
	}
	c.stop(leader)
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		t.Fatal("the reign goes on after the leader has stopped")
	}
	// A call that begins when its leader leads no more ends as well.
	select {
	case <-n.reigns.of(n.Group, id):
	case <-time.After(20 * time.Second):
		t.Fatal("a late call waits for a leader that is gone")
	}
}

func TestCallGivesUpWhenTheReignIsOver(t *testing.T) {
	arrived := make(chan struct{})
	client, mux := servedCalls(t, func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
		close(arrived)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	over, done := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := client.call(context.Background(), mux.advertise, methodPropose, []byte("x"), over)
		done <- err
	}()
	<-arrived
	close(over)
	if err := <-done; !errors.Is(err, errAnswerLost) || !errors.Is(err, errLeaderChanged) {
		t.Errorf("call to a deposed leader: got %v, want errAnswerLost and errLeaderChanged", err)
	}
	if err := mux.close(); err != nil {
		t.Error(err)
	}
}
