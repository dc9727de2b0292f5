package node

import (
	"context"
	"testing"

	"cairn/node/api"
)

func TestACursorBelongsToItsList(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann", "alice")
	for i := range 3 {
		s.add(ann, lesson(i), api.Write{})
	}
	first, err := s.node.Experiences(context.Background(), ann, api.ListFilter{Pool: "own", Page: api.Page{Limit: 1}})
	if err != nil || first.NextCursor == nil {
		t.Fatalf("page %+v: %v", first, err)
	}
	page := api.Page{Limit: 1, Cursor: *first.NextCursor}
	if _, err := s.node.Experiences(context.Background(), ann, api.ListFilter{Pool: "own", Page: page}); err != nil {
		t.Errorf("the next page: %v", err)
	}
	for name, err := range map[string]error{
		"another pool": second(s.node.Experiences(context.Background(), ann, api.ListFilter{Pool: "meta", Page: page})),
		"promotions":   second(s.node.Promotions(context.Background(), ann, "", page)),
		"receipts":     second(s.node.Receipts(context.Background(), ann, "", "", "", page)),
	} {
		if codeOf(err) != api.CodeInvalid {
			t.Errorf("%s took the cursor: %v", name, err)
		}
	}
}

func TestWhoReadsEverythingListsAllReceipts(t *testing.T) {
	s := newSite(t)
	ann, bob := s.agent("ann", "alice"), s.agent("bob", "bea")
	for _, c := range []api.Caller{ann, bob} {
		s.record(c, booking("book a flight to "+c.Agent, true))
		s.report(c, s.recall(c, "book a flight to "+c.Agent), true) // a reported receipt is stored
	}
	count := func(c api.Caller, agent string) map[string]int {
		list, err := s.node.Receipts(context.Background(), c, agent, "", "", api.Page{})
		if err != nil {
			t.Fatal(err)
		}
		by := map[string]int{}
		for _, r := range list.Items {
			by[r.Agent]++
		}
		return by
	}
	if got := count(s.admin, ""); got["ann"] != 1 || got["bob"] != 1 {
		t.Errorf("the admin sees %v", got)
	}
	if got := count(s.admin, "bob"); len(got) != 1 || got["bob"] != 1 {
		t.Errorf("the admin sees of bob %v", got)
	}
	if got := count(ann, ""); len(got) != 1 || got["ann"] != 1 {
		t.Errorf("ann sees %v", got)
	}
}

func TestTaskTypesAreWrittenInAnyLanguage(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann", "alice")
	req := lesson(1)
	req.TaskType = "机票预订"
	if got := s.add(ann, req, api.Write{}); got.Value.TaskType != req.TaskType {
		t.Errorf("recorded as %q", got.Value.TaskType)
	}
	for _, bad := range []string{"two words", "a/b", "\x00", "a\xff", "😀"} {
		req.TaskType = bad
		if _, err := s.node.AddExperience(context.Background(), ann, req, api.Write{}); codeOf(err) != api.CodeInvalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
