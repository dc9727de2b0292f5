package compact

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestClusters(t *testing.T) {
	near := func(pairs ...[2]int) func(i, j int) bool {
		return func(i, j int) bool { return slices.Contains(pairs, [2]int{i, j}) }
	}
	all := func(i, j int) bool { return true }
	for _, tc := range []struct {
		name  string
		n     int
		alike func(i, j int) bool
		want  [][]int
	}{
		{"none", 0, all, nil},
		{"too few", 3, all, nil},
		{"one star", 5, near([2]int{0, 2}, [2]int{1, 2}, [2]int{2, 4}), [][]int{{2, 0, 1, 4}}},
		{"a chain is no cluster", 5, near([2]int{0, 1}, [2]int{1, 2}, [2]int{2, 3}, [2]int{3, 4}), nil},
		{"bounded", 20, all, [][]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {16, 17, 18, 19}}},
	} {
		got := Clusters(tc.n, tc.alike)
		if !slices.EqualFunc(got, tc.want, slices.Equal[[]int]) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func plans(contents ...string) []Source {
	var out []Source
	for _, c := range contents {
		out = append(out, Source{Scenario: "book a flight to <to>", Content: "Plan that worked: " + c, Keywords: []string{"flight", c[:3]}})
	}
	return out
}

func TestWrite(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sources []Source
		want    string // empty: no strategy
	}{
		{"steps in common", plans(
			`login(user="kim") -> search(from=<from>, to=<to>, class="economy") -> book(id="F1")`,
			`login(user="lee") -> list() -> search(from="AMS", to="LIS", class="economy") -> book(id="F2")`,
		), "Every success of this kind had these steps, in this order: `login` (user as the task needs), then `search` with class=\"economy\" (from, to as the task needs), then `book` (id as the task needs)."},
		{"words of commands", plans(
			`bash(command="find /tmp -name \"*.log\" | wc -l")`, `bash(command="find . -type f | wc -l")`,
		), "Every success of this kind had these steps, in this order: `bash` made of `find`, `wc`, `-l` (command as the task needs)."},
		{"one step without a value", plans(`open(id=1)`, `open(id=2)`), ""},
		{"the smaller part of the plans", plans(`a() -> b() -> c() -> d(x=1) -> e(x=1)`, `f() -> g() -> h() -> d(x=1) -> e(x=1)`), ""},
		{"other steps", plans(`a(x=1)`, `b(x=1)`), ""},
		{"no plan", []Source{{Content: "Log in before you search."}}, ""},
		{"nothing", nil, ""},
		{"a quoted parenthesis", plans(`say(text="a) -> b(", to="x") -> end()`, `say(text="c, d", to="x") -> end()`),
			"Every success of this kind had these steps, in this order: `say` with to=\"x\" (text as the task needs), then `end`."},
	} {
		got, ok := Write(tc.sources)
		if ok != (tc.want != "") || ok && got.Content != tc.want {
			t.Errorf("%s: got %q, %v, want %q", tc.name, got.Content, ok, tc.want)
		}
	}
	got, ok := Write([]Source{
		{Scenario: "预订机票", Content: "有效步骤：login(user=\"kim\") -> book(class=\"economy\")"},
		{Scenario: "预订机票去里斯本", Content: "有效步骤：login(user=\"lee\") -> book(class=\"economy\")"},
	})
	if want := "此类任务的每次成功都按顺序包含这些步骤：`login`（user 随任务而变），再 `book` 使用 class=\"economy\"。"; !ok || got.Content != want {
		t.Errorf("got %q, %v, want %q", got.Content, ok, want)
	}
	if got, _ = Write(plans(`a(x=1)`, `a(x=1)`)); got.Scenario != "book a flight to <to>" || !slices.Equal(got.Tools, []string{"a"}) || got.Keywords[0] != "a(x" {
		t.Errorf("got %+v", got)
	}
}

// TestWriteNamesOnlyWhatItsSourcesHave: any number of plans, in any order, give the same steps of theirs or nothing.
func TestWriteNamesOnlyWhatItsSourcesHave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom([]string{"a", "b", "c"})
		var sources []Source
		for range rapid.IntRange(1, 6).Draw(t, "plans") {
			var calls []string
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				calls = append(calls, tool.Draw(t, "tool")+`(x="`+rapid.SampledFrom([]string{"1", "2 3", "2 4"}).Draw(t, "value")+`")`)
			}
			sources = append(sources, Source{Scenario: "s", Content: strings.Join(calls, arrow)})
		}
		got, ok := Write(sources)
		if !ok {
			return
		}
		for _, name := range got.Tools {
			for _, s := range sources {
				if !strings.Contains(s.Content, name+"(") {
					t.Fatalf("%q names %s, which %q lacks", got.Content, name, s.Content)
				}
			}
		}
		if _, plan := parsePlan(got.Content); plan {
			t.Fatalf("%q can be read as a plan", got.Content)
		}
	})
}

func FuzzParsePlan(f *testing.F) {
	f.Add("Plan that worked: a(x=1) -> b()")
	f.Add(`a(x="\`)
	f.Add("：(")
	f.Fuzz(func(t *testing.T, text string) {
		plan, ok := parsePlan(text)
		if ok && len(plan) == 0 {
			t.Errorf("%q is a plan without steps", text)
		}
	})
}
