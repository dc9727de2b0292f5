package node

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cairn/node/api"
)

// heat recalls until an experience was given several times and the index knows.
func (s *site) heat(c api.Caller, task string) api.RecallAnswer {
	s.t.Helper()
	one := 1
	var got api.RecallAnswer
	for range 3 {
		got = s.ask(c, api.RecallRequest{Task: task, Mode: "inject", K: &one})
		s.receiptStored(c, got.Receipt)
		s.indexed()
	}
	return got
}

func (s *site) counted(line string) string {
	s.t.Helper()
	for l := range strings.Lines(s.scrape()) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(l), line+" "); ok {
			return value
		}
	}
	return ""
}

// TestHotAnswersAreTheSame: whether the most recalled are read from memory or from the state, a recall says the same.
func TestHotAnswersAreTheSame(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	for i := range 15 {
		s.add(ann, lesson(i), api.Write{})
	}
	s.indexed()
	task := lesson(3).Scenario
	hottest := s.heat(ann, task).Experiences[0].Experience.ID
	ask := func() api.RecallAnswer { return s.ask(ann, api.RecallRequest{Task: task, Mode: "search"}) }
	first := ask()
	if hot, kept := s.counted(`cairn_recall_hot{what="hot"}`), s.counted(`cairn_recall_hot{what="kept"}`); hot != "1" || kept != "1" {
		t.Errorf("%s hot, %s kept; want the one that was given", hot, kept)
	}
	before := s.counted(`cairn_recall_candidates_total{from="memory"}`)
	warm := ask()
	if after := s.counted(`cairn_recall_candidates_total{from="memory"}`); after == before || after == "" {
		t.Errorf("read from memory: %q, then %q", before, after)
	}
	s.node.index.hot.Clear()
	before = s.counted(`cairn_recall_candidates_total{from="memory"}`)
	cold := ask()
	if after := s.counted(`cairn_recall_candidates_total{from="memory"}`); after != before {
		t.Errorf("nothing is hot, and %s were read from memory after %s", after, before)
	}
	if len(warm.Experiences) == 0 || warm.Experiences[0].Experience.ID != hottest || warm.Experiences[0].Experience.Utility.Recalled != 3 {
		t.Errorf("the hottest, %s, is not first with its three recalls: %+v", hottest, warm.Experiences)
	}
	if !reflect.DeepEqual(first, warm) || !reflect.DeepEqual(warm, cold) {
		t.Errorf("first %+v\nwarm %+v\ncold %+v", first, warm, cold)
	}
}

// TestHotIsNotStale: what is changed, archived or erased is given as it is then, though it was hot.
func TestHotIsNotStale(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann := s.agent("ann-1", "ann")
	for i := range 5 {
		s.add(ann, lesson(i), api.Write{})
	}
	s.indexed()
	task := lesson(3).Scenario
	hottest := s.heat(ann, task).Experiences[0].Experience
	ask := func() []api.Recalled { return s.ask(ann, api.RecallRequest{Task: task, Mode: "search"}).Experiences }
	at := func(list []api.Recalled) int {
		return slices.IndexFunc(list, func(e api.Recalled) bool { return e.Experience.ID == hottest.ID })
	}
	content := "Ask for the receipt, then call refund(order=1)."
	if _, err := s.node.PatchExperience(ctx, ann, hottest.ID, 1, api.PatchExperience{Content: &content}, api.Write{}); err != nil {
		t.Fatal(err)
	}
	s.indexed()
	if got := ask(); at(got) < 0 || got[at(got)].Experience.Content != content {
		t.Errorf("after a new version: %+v", got)
	}
	s.heat(ann, task)
	ask()
	if _, err := s.node.EraseExperience(ctx, ann, hottest.ID, 2, api.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := ask(); at(got) >= 0 { // the index may not know yet
		t.Errorf("erased and given: %+v", got)
	}
	s.indexed()
	if got := ask(); at(got) >= 0 {
		t.Errorf("erased and given: %+v", got)
	}
	if kept := s.counted(`cairn_recall_hot{what="hot"}`); kept != "0" {
		t.Errorf("%s are hot after the only one that was recalled was erased", kept)
	}
}
