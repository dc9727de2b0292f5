package node

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"cairn/node/api"
)

// TestSessionsAcrossNodes: whoever brings the index of its last write reads it at any node, while the leadership moves.
func TestSessionsAcrossNodes(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	agents := make([]api.Caller, 3)
	for i := range agents {
		made, err := s.nodes[0].CreateAgent(ctx, s.admin, api.CreateAgent{ID: fmt.Sprintf("agent-%d", i)}, api.Write{})
		if err != nil {
			t.Fatal(err)
		}
		if agents[i], err = s.nodes[0].Authenticate(ctx, *made.Value.Key); err != nil {
			t.Fatal(err)
		}
	}
	s.level()
	moving := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(moving)
		for range 4 {
			if _, err := s.nodes[0].TransferLeadership(ctx, s.admin, api.Transfer{}); err != nil {
				t.Logf("transfer: %v", err) // a later one goes on
			}
		}
	})
	for i, c := range agents {
		all.Go(func() {
			for k := range 12 {
				done, err := s.write(s.nodes[(i+k)%3], c, fmt.Sprintf("%d of agent %d", k, i))
				if err != nil {
					t.Errorf("agent %d, write %d: %v", i, k, err)
					return
				}
				reader := s.nodes[(i+k+1+k%2)%3]
				at, err := reader.AwaitRead(ctx, api.Read{Index: done.Index})
				if err != nil || at < done.Index {
					t.Errorf("agent %d, write %d: read at %d, %v, wrote at %d", i, k, at, err, done.Index)
					return
				}
				if e, err := reader.Experience(ctx, c, done.Value.ID); err != nil || e.ID != done.Value.ID {
					t.Errorf("agent %d, write %d: %v", i, k, err)
				}
			}
		})
	}
	all.Wait()
	<-moving
}

// level waits until every node has what the site has.
func (s *trio) level() {
	s.t.Helper()
	for _, n := range s.nodes {
		if _, err := n.AwaitRead(context.Background(), api.Read{Consistency: "linear"}); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestFeedWaitsForWhatTheSiteHas: a cursor from a node that is ahead is good at every node, at once.
func TestFeedWaitsForWhatTheSiteHas(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	for i := range 30 {
		n := s.nodes[i%3]
		made, err := n.CreateAgent(ctx, s.admin, api.CreateAgent{ID: fmt.Sprintf("agent-%d", i)}, api.Write{})
		if err != nil {
			t.Fatal(err)
		}
		cursor := position{epoch: s.cluster(i % 3).Epoch, index: made.Index + 1}.String()
		for j, other := range s.nodes {
			feed, err := other.Feed(ctx, s.admin, cursor, api.FeedFilter{})
			if err != nil {
				t.Fatalf("cursor of node %d at node %d: %v", i%3, j, err)
			}
			feed.Close()
		}
	}
	if _, err := s.nodes[0].Feed(ctx, s.admin, position{epoch: 1, index: 1 << 40}.String(), api.FeedFilter{}); codeOf(err) != api.CodeInvalid {
		t.Errorf("a cursor that the site never had: got %v", err)
	}
}

// write adds one lesson under an idempotency key, again where the answer was lost or no leader was known.
func (s *trio) write(n *Node, c api.Caller, name string) (done api.Done[api.Experience], err error) {
	for range 20 {
		done, err = n.AddExperience(context.Background(), c, api.AddExperience{
			Scenario: "Door number " + name, Content: `Call push(door="` + name + `")`,
		}, api.Write{IdempotencyKey: name})
		if err == nil || codeOf(err) != api.CodeUnavailable {
			break
		}
	}
	return done, err
}

// TestFeedIsExactAcrossNodes follows the feed at one node, goes on at the next with the cursor after every few events,
// and loses the leader on the way: every event comes once, in the order of the log.
func TestFeedIsExactAcrossNodes(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	made, err := s.nodes[0].CreateAgent(ctx, s.admin, api.CreateAgent{ID: "ann"}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := s.nodes[0].Authenticate(ctx, *made.Value.Key)
	if err != nil {
		t.Fatal(err)
	}
	s.level()
	const events = 24
	filter := api.FeedFilter{Types: []string{"experience.recorded"}}
	first, err := s.nodes[0].Feed(ctx, ann, "", filter)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	welcome, err := first.Next(ctx)
	if err != nil || welcome.Type != "welcome" {
		t.Fatalf("got %+v, %v", welcome, err)
	}
	want := make(chan string, events)
	go func() {
		defer close(want)
		for i := range events {
			if i == events/2 {
				if _, err := s.nodes[1].TransferLeadership(ctx, s.admin, api.Transfer{}); err != nil {
					t.Logf("transfer: %v", err)
				}
			}
			done, err := s.write(s.nodes[i%3], ann, fmt.Sprint(i))
			if err != nil {
				t.Errorf("write %d: %v", i, err)
				return
			}
			want <- done.Value.ID
		}
	}()
	cursor, at := welcome.Cursor, 0
	var feed api.FeedStream
	for id := range want {
		if at%5 == 0 { // the next node goes on where the last one was left
			if feed != nil {
				feed.Close()
			}
			if feed, err = s.nodes[at/5%3].Feed(ctx, ann, cursor, filter); err != nil {
				t.Fatal(err)
			}
			if m, err := feed.Next(ctx); err != nil || m.Type != "welcome" {
				t.Fatalf("got %+v, %v", m, err)
			}
		}
		m, err := feed.Next(ctx)
		if err != nil || m.Experience != id {
			t.Fatalf("event %d: got %+v, %v, want %s", at, m, err, id)
		}
		cursor = m.Cursor
		at++
	}
	feed.Close()
	if at != events {
		t.Errorf("%d events, want %d", at, events)
	}
}
