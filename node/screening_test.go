package node

import (
	"context"
	"errors"
	"testing"

	"cairn/node/api"
	"cairn/node/screen"
)

// downScreener is a service out of reach. It tells of every time it was asked.
type downScreener struct{ asked chan struct{} }

func (d downScreener) Screen(context.Context, string, string, []string) (screen.Fielded, error) {
	select {
	case d.asked <- struct{}{}:
	default:
	}
	return screen.Fielded{}, errors.New("down")
}

func TestWithoutItsScreenerNothingIsShared(t *testing.T) {
	down := downScreener{make(chan struct{}, 1)}
	s := &site{t: t, dir: t.TempDir(), screener: down}
	s.start()
	t.Cleanup(func() { s.stop() })
	ann := s.agent("ann", "alice")
	s.agent("bob", "bea")
	s.agent("cid", "carl")
	req := lesson(1)
	req.Share = "candidate"
	added := s.add(ann, req, api.Write{})
	<-down.asked
	e, err := s.node.Experience(context.Background(), ann, added.Value.ID)
	if err != nil || e.Status != "active" {
		t.Fatalf("%+v: %v", e, err)
	}
	shelf, err := s.node.Experiences(context.Background(), s.admin, api.ListFilter{Pool: "candidates"})
	if err != nil || len(shelf.Items) != 0 {
		t.Errorf("on the shelf: %+v, %v", shelf.Items, err)
	}
	s.indexed()
	got, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Task: req.Scenario, TaskType: req.TaskType})
	if err != nil || len(got.Experiences) != 1 {
		t.Errorf("its own pool gives %+v, %v", got.Experiences, err)
	}
}
