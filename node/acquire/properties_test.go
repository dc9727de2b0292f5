package acquire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestSamePlanSameText: the same plan for two tasks of one kind gives drafts that differ in nothing a reader sees, so that
// a store that compares texts merges them.
func TestSamePlanSameText(t *testing.T) {
	const form = `task Book a flight from %[1]s to %[2]s on %[3]s for %[4]s
attempt 1
sign_in {"user":"%[4]s"} => signed in
search_flights {"from":"%[1]s","to":"%[2]s","date":"%[3]s"} => 3 flights for %[4]s
book_flight {"user":"%[4]s","fare":"flex"} => booking accepted
attempt 0
search_flights {"from":"%[2]s","to":"%[1]s","date":"%[3]s"} => error: 404 unknown from "%[2]s"
`
	a, _ := Distil(parseGroup(t, fmt.Sprintf(form, "AMS", "LIS", "2027-03-04", "ana")))
	b, _ := Distil(parseGroup(t, fmt.Sprintf(form, "OSL", "ROM", "2027-11-28", "hugo")))
	if len(a) < 2 || len(a) != len(b) {
		t.Fatalf("%d and %d drafts", len(a), len(b))
	}
	for i := range a {
		if !reflect.DeepEqual(a[i], b[i]) {
			t.Errorf("draft %d differs:\n%+v\n%+v", i, a[i], b[i])
		}
	}
}

// drawGroup makes a group of a small vocabulary, in which attempts share much.
func drawGroup(t *rapid.T) Group {
	values := []string{"AMS", "ana", "2027-03-04", "flex", "promo", "mail", "7", "find . -name x | sort", "SELECT a FROM b"}
	tools := []string{"search", "book", "bash", "sign_in", "submit"}
	names := []string{"from", "user", "date", "command", "fare"}
	observations := []string{"ok", "error: 401 not signed in", "429 too many requests", "booked AMS", "不存在", ""}
	g := Group{TaskType: "t", Task: "Book from AMS for ana on 2027-03-04, seat 7"}
	if rapid.Bool().Draw(t, "alike") {
		g.Alike = sharedWords
	}
	for n := range rapid.IntRange(0, 5).Draw(t, "attempts") {
		a := Attempt{Number: n, HasReward: rapid.Bool().Draw(t, "rewarded"), Success: rapid.Bool().Draw(t, "success")}
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			s := Step{Tool: rapid.SampledFrom(tools).Draw(t, "tool"), Args: map[string]any{}}
			for range rapid.IntRange(0, 3).Draw(t, "args") {
				s.Args[rapid.SampledFrom(names).Draw(t, "name")] = rapid.SampledFrom(values).Draw(t, "value")
			}
			s.Observation = rapid.SampledFrom(observations).Draw(t, "observation")
			a.Steps = append(a.Steps, s)
		}
		if rapid.Bool().Draw(t, "given") {
			a.Given = []string{`Plan that worked: search(from=<from>) -> book(user=<user>)`}
		}
		g.Attempts = append(g.Attempts, a)
	}
	return g
}

// TestDistilIsDeterministic: neither the order of maps nor that of attempts matters, and the group is not changed.
func TestDistilIsDeterministic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t)
		before, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		drafts, discards := Distil(g)
		var copied Group
		if err := json.Unmarshal(before, &copied); err != nil {
			t.Fatal(err)
		}
		copied.Alike = g.Alike
		copied.Attempts = rapid.Permutation(copied.Attempts).Draw(t, "order")
		again, discardsAgain := Distil(copied)
		if !reflect.DeepEqual(drafts, again) || !reflect.DeepEqual(discards, discardsAgain) {
			t.Fatalf("first %+v %v\nthen %+v %v", drafts, discards, again, discardsAgain)
		}
		if after, _ := json.Marshal(g); string(after) != string(before) {
			t.Fatal("the group was changed")
		}
		checkDrafts(t, g, drafts, discards)
	})
}

type fataler interface{ Fatalf(string, ...any) }

// checkDrafts holds for every group: limits, known tools and arguments, no two equal texts, nothing that was given.
func checkDrafts(t fataler, g Group, drafts []Draft, discards []Discard) {
	if len(drafts)+len(discards) == 0 {
		t.Fatalf("neither a draft nor a reason")
	}
	tools, texts, perLens := make(map[string]bool), make(map[string]bool), make(map[string]int)
	for _, a := range g.Attempts {
		for _, s := range a.Steps {
			tools[collapse(s.Tool)] = true
		}
	}
	for _, d := range drafts {
		perLens[d.Lens]++
		switch {
		case perLens[d.Lens] > MaxPerLens:
			t.Fatalf("%d drafts of %s", perLens[d.Lens], d.Lens)
		case texts[d.Content]:
			t.Fatalf("twice: %q", d.Content)
		case !d.Kind.Valid() || d.Generator != Generator || len(d.Attempts) == 0 || d.Feature == "":
			t.Fatalf("incomplete: %+v", d)
		case len([]rune(d.Scenario)) > MaxScenario || len([]rune(d.Content)) > MaxContent:
			t.Fatalf("too long: %+v", d)
		case len(d.Keywords) < MinKeywords || len(d.Keywords) > MaxKeywords:
			t.Fatalf("%d keywords: %v", len(d.Keywords), d.Keywords)
		case !utf8.ValidString(d.Scenario + d.Content + d.State + d.Action + d.Result):
			t.Fatalf("not UTF-8: %+v", d)
		}
		for _, tool := range d.Tools {
			if !tools[tool] {
				t.Fatalf("tool %q is in no attempt", tool)
			}
		}
		texts[d.Content] = true
	}
}

// FuzzDistil reads a group from JSON: whatever an agent sends, distilling ends and keeps its promises.
func FuzzDistil(f *testing.F) {
	f.Add([]byte(`{"TaskType":"t","Task":"Book AMS","Attempts":[{"HasReward":true,"Success":true,"Steps":[{"Tool":"a","Args":{"x":"AMS","y":[1,{"z":null}]},"Observation":"ok"}]}]}`))
	f.Add([]byte(`{"Task":"\u202e<a>","Attempts":[{"HasReward":true,"Steps":[{"Tool":"a(","Args":{"":"<x>","command":"| | -exec $("},"Observation":"error: \u0000"}],"Given":[""]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var g Group
		if json.Unmarshal(data, &g) != nil {
			return
		}
		g.Alike = sharedWords
		drafts, discards := Distil(g)
		if len(g.Attempts) > 0 {
			checkDrafts(t, g, drafts, discards)
		}
		for _, d := range drafts {
			v := Judge(d, g, .5, "")
			if !(v.Score >= 0 && v.Score <= 1) {
				t.Fatalf("score %v", v.Score)
			}
		}
	})
}

// TestRecalledTextDoesNotComeBack: an agent that records nothing but what it was given adds nothing.
func TestRecalledTextDoesNotComeBack(t *testing.T) {
	g := parseGroup(t, `task Restore volume mail
attempt 1
list {"volume":"mail"} => 2
restore {"volume":"mail","point":"previous"} => restored
attempt 0
restore {"volume":"mail","point":"latest"} => error: 409 list first
`)
	first, _ := Distil(g)
	if len(first) < 2 {
		t.Fatalf("only %d drafts", len(first))
	}
	for i := range g.Attempts {
		for _, d := range first {
			g.Attempts[i].Given = append(g.Attempts[i].Given, "Recalled:\n> "+d.Content+"\n")
		}
	}
	again, discards := Distil(g)
	if len(again) != 0 || len(discards) != len(first) {
		t.Errorf("%d drafts come back: %+v; %v", len(again), again, discards)
	}
	for _, d := range discards {
		if d.Reason != ReasonRecalled {
			t.Errorf("reason %q, want %q", d.Reason, ReasonRecalled)
		}
	}
}

func TestNearCopy(t *testing.T) {
	for _, tc := range []struct {
		name, text, given string
		want              bool
	}{
		{"same", "Call login before book.", "Call login before book.", true},
		{"case and space", "call  LOGIN before book.", "Call login before book.", true},
		{"inside", "Call login before book.", "[1] id=7\n> Call login before book.\nmore", true},
		{"one word more at the end", "If search fails with quota exceeded then wait for two minutes and repeat the very same call again please now",
			"If search fails with quota exceeded then wait for two minutes and repeat the very same call again please", true},
		{"another number", "If search fails wait 5 seconds and repeat the same call until it works again", "If search fails wait 9 seconds and repeat the same call until it works again", false},
		{"another value", `Plan that worked: book(fare="flex")`, `Plan that worked: book(fare="promo")`, false},
		{"another lesson", "Call login before book.", "Never call login.", false},
		{"too short to tell", "ok", "ok then", false},
		{"nothing given", "Call login before book.", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := nearCopy(tc.text, tc.given); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestLongTask(t *testing.T) {
	g := parseGroup(t, "task x\nattempt 1\ndo {\"a\":\"b\"} => ok\n")
	g.Task = strings.Repeat("预订航班 ", 600)
	drafts, _ := Distil(g)
	if n := len([]rune(drafts[0].Scenario)); n > MaxScenario || n < MaxScenario/2 {
		t.Errorf("scenario of %d characters", n)
	}
	g.Attempts[0].Steps[0].Args["command"] = strings.Repeat("x", 9000)
	delete(g.Attempts[0].Steps[0].Args, "a")
	for range 5 {
		g.Attempts[0].Steps = append(g.Attempts[0].Steps, Step{Tool: fmt.Sprint("do", len(g.Attempts[0].Steps)), Args: g.Attempts[0].Steps[0].Args})
	}
	drafts, discards := Distil(g)
	if len(drafts) != 0 || len(discards) != 1 || discards[0].Reason != ReasonTooLong {
		t.Errorf("got %d drafts and %v, want too_long", len(drafts), discards)
	}
}
