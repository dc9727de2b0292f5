package pipeline

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"cairn/node/acquire"
	"cairn/node/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadAdvice(t *testing.T) {
	for _, tc := range []struct {
		name, content string
		want          []advised
	}{
		{"items", "Do: use `find -exec` in `bash`; start with `md5sum` in `bash`. Avoid: use `rm` in `bash`.",
			[]advised{{"bash", []string{"find -exec"}}, {"bash", []string{"md5sum"}}}},
		{"names", "Do: use the names `city`, `shop` in `mysql`.", []advised{{"mysql", []string{"city", "shop"}}}},
		{"chinese", "应当：使用 `awk`（`bash`）；先用 `sort`（`bash`）。避免：使用 `rm`（`bash`）。", []advised{{"bash", []string{"awk"}}, {"bash", []string{"sort"}}}},
		{"tools only", "Do: call `login` before `book`.", nil},
		{"a plan", `Plan that worked: login(user=<user>)`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := readAdvice(tc.content); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestFollows(t *testing.T) {
	row := attemptRow{}
	row.Steps = append(row.Steps, attemptRow{}.Steps...)
	if (advised{"bash", []string{"find"}}).follows(row) {
		t.Error("an attempt without steps follows nothing")
	}
	for _, tc := range []struct {
		words []string
		want  bool
	}{
		{[]string{"find -exec"}, true}, {[]string{"FIND"}, true}, {[]string{"md5"}, false}, {[]string{"find", "awk"}, false}, {[]string{"-exec find"}, false},
	} {
		if got := (advised{"bash", tc.words}).follows(firstCall("bash", "find . -type f -exec md5sum {} +")); got != tc.want {
			t.Errorf("%v: got %v", tc.words, got)
		}
	}
	if (advised{"sql", []string{"find"}}).follows(firstCall("bash", "find .")) {
		t.Error("another tool follows nothing")
	}
}

func firstCall(tool, command string) (row attemptRow) {
	row.Steps = slices.Grow(row.Steps, 1)[:1]
	row.Steps[0].Tool, row.Steps[0].Args = tool, map[string]any{"command": command}
	return row
}

// TestRiskDifference holds the estimate against strata whose answer is known: .5 in each, with another base rate.
func TestRiskDifference(t *testing.T) {
	d, ok := riskDifference([]*stratum{{3, 4, 1, 4}, {8, 8, 4, 8}, {5, 5, 0, 0}})
	if !ok || math.Abs(d-.5) > 1e-12 {
		t.Errorf("got %v %v, want .5", d, ok)
	}
	if _, ok := riskDifference([]*stratum{{1, 2, 0, 0}}); ok {
		t.Error("a stratum without a comparison says nothing")
	}
}

func TestPairsAreThoseOfTheVetoes(t *testing.T) {
	total, differ := 0, 0
	for _, name := range []string{"en", "zh", "later"} {
		text, err := pairFiles.ReadFile("pairs/dedupe_pairs_" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		original, err := os.ReadFile("../../../federation/testdata/dedupe_pairs_" + name + ".txt")
		if err != nil || string(original) != string(text) {
			t.Errorf("%s: not the file that the vetoes are tested with: %v", name, err)
		}
		pairs, err := readPairs(string(text))
		if err != nil {
			t.Fatal(err)
		}
		total += len(pairs)
		for _, p := range pairs {
			if !p.same {
				differ++
			}
		}
	}
	if total != 792 || differ != 594 {
		t.Errorf("%d pairs, %d differ", total, differ)
	}
}

func TestQuestions(t *testing.T) {
	for _, language := range []string{"en", "zh"} {
		lessons, err := readQuestions(language)
		if err != nil || len(lessons) < 30 {
			t.Errorf("%s: %d lessons, %v", language, len(lessons), err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	known := names{map[string]bool{"login": true}, map[string]bool{"user": true}}
	for content, want := range map[string]int{
		`Plan that worked: login(user="a b(c=d)")`: 0, `Plan that worked: login(name=<name>)`: 1, `Plan that worked: login() -> book(flight=1)`: 2,
	} {
		if got := unknownIn(acquire.Draft{Content: content}, known); got != want {
			t.Errorf("%s: %d unknown, want %d", content, got, want)
		}
	}
}

func TestFeedIsSeen(t *testing.T) {
	req := api.RecordTrajectory{Task: "t", Attempts: make([]api.Attempt, 8)}
	for i := range req.Attempts {
		req.Attempts[i].Steps = []api.Step{{Tool: "x"}}
	}
	feed(&req, api.RecallAnswer{Guidance: "> " + canary, Receipt: "r"}, 0)
	for i, a := range req.Attempts {
		text := fmt.Sprint(a.Steps)
		if !strings.Contains(text, canary) || a.Receipt != "r" {
			t.Errorf("attempt %d was not fed: %s", i, text)
		}
	}
	if !repeats(api.Experience{Tools: []string{recallTool}}) || repeats(api.Experience{Content: "x"}) {
		t.Error("an echo is not told from another experience")
	}
}

// TestRunWithoutData leaves out what needs data and says so.
func TestRunWithoutData(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: embeds several hundred texts")
	}
	rows, notes, err := Run(context.Background(), Options{Data: filepath.Join(t.TempDir(), "none"), Quick: true, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Name)
	}
	if want := []string{"dedupe_false_merge", "dedupe_false_split", "floor_false_return", "floor_true_top5"}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v; notes %v", got, want, notes)
	}
}
