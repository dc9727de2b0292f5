package node

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"cairn/node/api"
)

// keys of an answer as a client sees it.
func keys(t *testing.T, answer any) map[string]json.RawMessage {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A client that waited reads the lists without asking whether they are there; one that did not wait has none yet.
func TestAWaitedRecordingHasItsLists(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	plain := booking("book a seat by the window", true)
	silent := booking("upgrade the seat to one by the aisle", false)
	silent.Attempts[0].Steps = []api.Step{{Tool: "upgrade", Observation: "fine"}}
	for name, req := range map[string]api.RecordTrajectory{"success": plain, "nothing to learn": silent} {
		got := keys(t, s.record(ann, req))
		for _, list := range []string{"experiences", "gate", "discarded"} {
			if len(got[list]) == 0 || got[list][0] != '[' {
				t.Errorf("%s: %s is %q, want a list", name, list, got[list])
			}
		}
	}
	later := booking("book a seat at the back", true)
	out, err := s.node.RecordTrajectory(context.Background(), ann, later, 0, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if got := keys(t, out.Value); got["experiences"] != nil || got["gate"] != nil {
		t.Errorf("without a wait the answer has %v", got)
	}
}

// What a language model would add is asked for, and the answer says that it is missing.
func TestARecallSaysWhatItCouldNotDo(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	for _, c := range []struct {
		name            string
		rerank, rewrite bool
		want            []string
	}{
		{"neither", false, false, []string{}},
		{"both", true, true, []string{"rerank: no model", "rewrite: no model"}},
	} {
		out, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Task: "book a seat", Rerank: c.rerank, Rewrite: c.rewrite})
		if err != nil {
			t.Fatal(err)
		}
		if out.Degraded == nil || !slices.Equal(out.Degraded, c.want) {
			t.Errorf("%s: degraded %v, want %v", c.name, out.Degraded, c.want)
		}
	}
}
