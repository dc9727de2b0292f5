package recall

import "testing"

func TestQuery(t *testing.T) {
	user := func(s string) Message { return Message{"user", s} }
	for _, tc := range []struct {
		name          string
		turns         []Message
		task, context string
	}{
		{"nothing", nil, "", ""},
		{"nobody asks", []Message{{"system", "be kind"}, {"assistant", "hello"}}, "", ""},
		{"one turn", []Message{{"system", "be kind"}, user(" book a flight ")}, "book a flight", ""},
		{"later turns", []Message{user("book a flight"), {"assistant", "where to?"}, user("Lisbon"), {"tool", "3 flights"}}, "Lisbon", "book a flight"},
		{"the last is blank", []Message{user("book a flight"), user("\n")}, "book a flight", ""},
		{"said twice", []Message{user("again"), {"assistant", "ok"}, user("again")}, "again", ""},
	} {
		if task, context := Query(tc.turns); task != tc.task || context != tc.context {
			t.Errorf("%s: got %q and %q, want %q and %q", tc.name, task, context, tc.task, tc.context)
		}
	}
}
