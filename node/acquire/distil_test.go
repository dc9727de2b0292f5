package acquire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDistil runs the files of testdata/distil. With alike=words segments are compared by the words they share. The lines of
// a group are
//
//	task TEXT
//	attempt REWARD
//	TOOL {JSON ARGUMENTS} [@STEP REWARD] => OBSERVATION
//	given TEXT (to the attempt above it; \n stands for a line break)
func TestDistil(t *testing.T) {
	datadriven.Walk(t, "testdata/distil", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			g := parseGroup(t, d.Input)
			d.MaybeScanArgs(t, "type", &g.TaskType)
			var alike string
			if d.MaybeScanArgs(t, "alike", &alike); alike == "words" {
				g.Alike = sharedWords
			}
			drafts, discards := Distil(g)
			return showDrafts(drafts, discards, g)
		})
	})
}

func parseGroup(t testing.TB, input string) (g Group) {
	for line := range strings.Lines(input) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		last := len(g.Attempts) - 1
		switch word {
		case "task":
			g.Task = rest
		case "attempt":
			reward, err := strconv.ParseFloat(rest, 64)
			a := Attempt{Number: len(g.Attempts), HasReward: err == nil}
			a.Score, a.Success = Normalise(reward, [2]float64{0, 1}, 1)
			g.Attempts = append(g.Attempts, a)
		case "given":
			g.Attempts[last].Given = append(g.Attempts[last].Given, strings.ReplaceAll(rest, `\n`, "\n"))
		default:
			g.Attempts[last].Steps = append(g.Attempts[last].Steps, parseStep(t, word, rest))
		}
	}
	return g
}

func parseStep(t testing.TB, tool, rest string) Step {
	s := Step{Tool: tool}
	args, observation, _ := strings.Cut(rest, "=>")
	s.Observation = strings.ReplaceAll(strings.TrimSpace(observation), `\n`, "\n")
	if json, reward, ok := strings.Cut(args, " @"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(reward), 64)
		if err != nil {
			t.Fatal(err)
		}
		s.Reward, args = &x, json
	}
	if err := json.Unmarshal([]byte(args), &s.Args); err != nil {
		t.Fatalf("%s: %v", rest, err)
	}
	return s
}

func showDrafts(drafts []Draft, discards []Discard, g Group) string {
	var b strings.Builder
	if len(drafts) > 0 {
		fmt.Fprintf(&b, "scenario: %s\n", drafts[0].Scenario)
	}
	for _, d := range drafts {
		fmt.Fprintf(&b, "%s %s (%s) support %d/%d attempts %v\n", d.Lens, d.Feature, d.Kind, d.Success, d.Failure, d.Attempts)
		fmt.Fprintf(&b, "  %s\n  keywords %v tools %v judge %.2f\n", d.Content, d.Keywords, d.Tools, Judge(d, g, 0, "").Score)
	}
	for _, d := range discards {
		fmt.Fprintf(&b, "discard %s: %s\n", d.Reason, d.Detail)
	}
	return b.String()
}

// sharedWords stands in for an encoder: the share of words that two texts have in common.
func sharedWords(a, b string) float64 {
	x, y := tokens(a), tokens(b)
	slices.Sort(x)
	slices.Sort(y)
	x, y = slices.Compact(x), slices.Compact(y)
	both := 0
	for _, w := range x {
		if slices.Contains(y, w) {
			both++
		}
	}
	return float64(both) / max(1, float64(len(x)+len(y)-both))
}
