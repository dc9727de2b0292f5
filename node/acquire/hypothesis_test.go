package acquire

import (
	"strings"
	"testing"

	"cairn/federation"
)

func tried(number int, success bool, steps ...Step) Attempt {
	a := Attempt{Number: number, Steps: steps, HasReward: true, Success: success}
	if success {
		a.Score = 1
	}
	return a
}

func step(tool, observation string, args ...any) Step {
	s := Step{Tool: tool, Observation: observation, Args: map[string]any{}}
	for i := 0; i+1 < len(args); i += 2 {
		s.Args[args[i].(string)] = args[i+1]
	}
	return s
}

const flight = "book a flight from AMS to LIS"

var (
	unlogged = tried(0, false, step("search_flights", "error: not logged in", "from", "AMS", "to", "LIS"))
	logged   = tried(1, true, step("login", "ok", "user", "kim"), step("search_flights", "3 flights", "from", "AMS", "to", "LIS"),
		step("book", "booked", "flight", "cheapest", "class", "economy"))
)

func TestHypothesis(t *testing.T) {
	tests := map[string]struct {
		in        Compared
		has       []string
		lacks     []string
		isNothing bool
	}{
		"same task": {
			in: Compared{Task: flight, PastTask: flight, Failed: unlogged, Past: []Attempt{logged}},
			has: []string{"The first wrong step was probably `search_flights` with from=\"AMS\", to=\"LIS\": it failed with \"error: not logged in\".",
				"Left out before it: `login` with user=\"kim\".", "What worked at this task before: login(user=\"kim\") -> search_flights"},
			lacks: []string{"<from>", "instead"},
		},
		"similar task": {
			in: Compared{Task: "book a flight from BER to OPO", PastTask: flight, Past: []Attempt{logged},
				Failed: tried(0, false, step("search_flights", "error: not logged in", "from", "BER", "to", "OPO"))},
			has:   []string{"from=\"BER\"", "What worked at a similar task: login(user=\"kim\") -> search_flights(from=<from>, to=<to>)"},
			lacks: []string{"AMS", "LIS"},
		},
		"another value": {
			in: Compared{Task: "set the report", PastTask: "set the report", Failed: tried(0, false, step("set", "error: bad unit", "unit", "days")),
				Past: []Attempt{tried(1, true, step("set", "ok", "unit", "week"))}},
			has: []string{"The success called `set` with unit=\"week\" instead."},
		},
		"no error, another way": {
			in: Compared{Task: "find it", PastTask: "find it", Failed: tried(0, false, step("look", "nothing here")),
				Past: []Attempt{tried(1, true, step("search", "found", "q", "x"))}},
			has: []string{"`look`: the attempt that succeeded did not make it", "Left out before it: `search`"},
		},
		"lesson only": {
			in:  Compared{Task: flight, Failed: unlogged, Lesson: "Call `login` before `search_flights`."},
			has: []string{"not logged in", "A lesson from a similar task says: \"Call `login` before `search_flights`.\""},
		},
		"error only": {in: Compared{Task: flight, Failed: unlogged}, has: []string{"not logged in"}},
		"nothing":    {in: Compared{Task: flight, Failed: tried(0, false, step("look", "fine"))}, isNothing: true},
		"Chinese": {
			in: Compared{Task: "预订从北京到上海的航班", PastTask: "预订从北京到上海的航班",
				Failed: tried(0, false, step("search", "错误：未登录", "from", "北京")),
				Past:   []Attempt{tried(1, true, step("login", "好"), step("search", "三个航班", "from", "北京"))}},
			has: []string{"第一个错误步骤可能是 `search`（from=\"北京\"）", "之前遗漏了：`login`。", "此前完成该任务的步骤：login() -> search"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Hypothesis(tt.in)
			for _, want := range tt.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q lacks %q", got, want)
				}
			}
			for _, no := range tt.lacks {
				if strings.Contains(got, no) {
					t.Errorf("%q has %q", got, no)
				}
			}
			if tt.isNothing && got != "" || got != Hypothesis(tt.in) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestRetried(t *testing.T) {
	g := Group{Task: flight, TaskType: "airline", Attempts: []Attempt{unlogged, logged, tried(2, false, step("cancel", "error: no booking"))}}
	d, ok := Retried(g, []int{0}, 1, "reflection/x")
	if !ok || d.Kind != federation.KindReflection || d.Lens != LensReflection || d.Feature != "reflection/x" || d.Success != 1 || d.Failure != 1 {
		t.Fatalf("draft %+v, %v", d, ok)
	}
	want := "Do: call `login` with user=\"kim\" first, then `search_flights` again. Before that, `search_flights` with from=<from>, to=<to> failed with \"error: not logged in\"."
	if !strings.HasPrefix(d.Content, want) {
		t.Errorf("content %q, want first the correct action: %q", d.Content, want)
	}
	if !strings.Contains(d.Content, "The way that worked: `login` with user=\"kim\", then `search_flights`") || strings.Contains(d.Content, "cancel") {
		t.Errorf("content %q", d.Content)
	}
	if len(d.Attempts) != 2 || d.Attempts[0] != 0 || d.Attempts[1] != 1 {
		t.Errorf("attempts %v, want 0 and 1", d.Attempts)
	}
	if v := Judge(d, g, 0, ProfileStrict); !v.Admit {
		t.Errorf("verdict %+v", v)
	}
	drafts, _ := Distil(Group{Task: flight, TaskType: "airline", Attempts: []Attempt{unlogged, logged}})
	covered := 0
	for _, x := range drafts {
		if Covered(x, d) {
			covered++
		}
	}
	if covered != 1 {
		t.Errorf("%d drafts say what the retry says, want the first wrong step's", covered)
	}
}

func TestRetriedRefuses(t *testing.T) {
	g := Group{Task: flight, Attempts: []Attempt{unlogged, logged}}
	for name, got := range map[string]func() (Draft, bool){
		"no such success":      func() (Draft, bool) { return Retried(g, []int{0}, 7, "x") },
		"no such failure":      func() (Draft, bool) { return Retried(g, []int{7}, 1, "x") },
		"a failure as success": func() (Draft, bool) { return Retried(g, []int{1}, 0, "x") },
		"nothing differs": func() (Draft, bool) {
			same := tried(1, true, step("look", "fine"))
			return Retried(Group{Task: flight, Attempts: []Attempt{tried(0, false, step("look", "fine")), same}}, []int{0}, 1, "x")
		},
	} {
		if d, ok := got(); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
