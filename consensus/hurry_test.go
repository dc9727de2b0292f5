package consensus

import (
	"context"
	"errors"
	"net"
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

// TestForwardedWriteIsAppliedByItsAnswer hides the leader's ordinary news: the
// answer alone has to bring the commit index to the follower.
func TestForwardedWriteIsAppliedByItsAnswer(t *testing.T) {
	c := newCluster(t, 3, nil)
	n := c.nodes[c.follower()]
	for range 20 {
		index := n.do(kvCommand{Op: "inc", Key: "n"}).Index
		told := n.hurrier.lastTold()
		if told.index != index || told.term == 0 || told.entryTerm != told.term {
			t.Fatalf("the answer to entry %d told %+v", index, told)
		}
		if n.Applied() < index {
			t.Fatalf("entry %d is answered and not applied", index)
		}
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
	mux, err := listenPeers("01ARZ3NDEKTSV4RRFFQ69G5FAV", "127.0.0.1:0", "", nil, testLogger())
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{})
	server := callServer{timeout: time.Second, fn: func(ctx context.Context, _ string, _ byte, _ []byte) ([]byte, error) {
		close(arrived)
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	mux.handle(kindCalls, server.serve)
	mux.serve()
	client := newCallClient(func(ctx context.Context, addr string) (net.Conn, error) {
		return mux.dial(ctx, kindCalls, addr)
	}, time.Second, nil)
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
	client.close()
	if err := mux.close(); err != nil {
		t.Error(err)
	}
}
