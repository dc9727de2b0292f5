package acquire

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// meeting is a group with two failures that went wrong at different ends.
const meeting = `task Move the meeting with ana to Friday and tell ana
attempt 1
find_event {"guest":"ana"} => event EV-31 on Tuesday
move_event {"event":"EV-31","day":"Friday","notify":"all"} => moved
find_contact {"name":"ana"} => contact CT-77, prefers chat
send_message {"contact":"CT-77","channel":"chat"} => sent
attempt 0
find_event {"guest":"ana"} => event EV-31 on Tuesday
move_event {"event":"EV-31","day":"Friday","notify":"none"} => moved
find_contact {"name":"ana"} => contact CT-77, prefers chat
send_message {"contact":"CT-77","channel":"chat"} => sent
attempt 0
find_event {"guest":"ana"} => event EV-31 on Tuesday
move_event {"event":"EV-31","day":"Friday","notify":"all"} => moved
find_contact {"name":"ana"} => contact CT-77, prefers chat
post_letter {"contact":"CT-77","channel":"post"} => error: 422 no postal address
`

func TestPairs(t *testing.T) {
	g := parseGroup(t, meeting)
	if got := Pairs(g); got != nil {
		t.Errorf("without an encoder: %+v", got)
	}
	g.Alike = sharedWords
	got := Pairs(g)
	if len(got) != 2 {
		t.Fatalf("got %+v, want two pairs", got)
	}
	for i, want := range []Pair{
		{Success: Segment{0, 0, 1}, Failure: Segment{1, 0, 1}},
		{Success: Segment{0, 2, 3}, Failure: Segment{2, 2, 3}},
	} {
		if got[i].Success != want.Success || got[i].Failure != want.Failure || got[i].Alike <= minAlike {
			t.Errorf("pair %d: got %+v, want %+v", i, got[i], want)
		}
	}
}

// TestPairsNeedLikeness: at the bound there is no pair, above it there is; what is no number pairs nothing.
func TestPairsNeedLikeness(t *testing.T) {
	for _, tc := range []struct {
		name  string
		alike float64
		pairs int
	}{{"bound", .3, 0}, {"above", .31, 2}, {"opposite", -1, 0}, {"not a number", math.NaN(), 0}, {"infinite", math.Inf(1), 0}} {
		g := parseGroup(t, meeting)
		g.Alike = func(string, string) float64 { return tc.alike }
		if got := Pairs(g); len(got) != tc.pairs {
			t.Errorf("%s: %d pairs, want %d", tc.name, len(got), tc.pairs)
		}
	}
}

// TestSegments: an error and its answer stay together, as do a call and the one that uses what it found; a value that the
// task names joins nothing, and nothing grows beyond its bound.
func TestSegments(t *testing.T) {
	for _, tc := range []struct{ name, group, want string }{
		{"found value", "find {\"name\":\"ana\"} => contact CT-77\nsend {\"contact\":\"CT-77\"} => sent\n", "0-1"},
		{"value of the task", "find {\"name\":\"ana\"} => ana, CT-77\nsend {\"to\":\"ana\"} => sent\n", "0-0 1-1"},
		{"error and answer", "send {\"to\":\"ana\"} => error: 401 not signed in\nsign_in {} => welcome\nsend {\"to\":\"ana\"} => sent\n", "0-1 2-2"},
		{"short and logical values", "find {\"name\":\"ana\"} => true 7\nsend {\"all\":true,\"n\":7} => sent\n", "0-0 1-1"},
		{"command", "sql {\"command\":\"SHOW TABLES\"} => [('cars_data',)]\nsql {\"command\":\"SELECT max(x) FROM cars_data\"} => 3\n", "0-1"},
		{"turns of talk between", "find {\"name\":\"ana\"} => contact CT-77\nrespond {\"text\":\"wait\"} => ok\nsend {\"contact\":\"CT-77\"} => sent\n", "0-2"},
		{"bound", strings.Repeat("send {\"to\":\"ana\"} => error: 401 not signed in\n", maxSegment+2), "0-7 8-9"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(parseGroup(t, "task Tell ana\nattempt 1\n"+tc.group))
			var got []string
			for _, g := range s.segments(s.successes[0]) {
				got = append(got, fmt.Sprintf("%d-%d", g.bounds().From, g.bounds().To))
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

// TestPairsProperties: at most three, the most alike first, none twice, and each of a success and a failure.
func TestPairsProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGroup(t)
		g.Alike = sharedWords
		success := make(map[int]bool)
		for _, a := range g.Attempts {
			success[a.Number] = a.HasReward && a.Success
		}
		seen := make(map[Segment]bool)
		got := Pairs(g)
		for i, p := range got {
			switch {
			case i >= maxPairs, i > 0 && p.Alike > got[i-1].Alike, !(p.Alike > minAlike):
				t.Fatalf("order or number: %+v", got)
			case !success[p.Success.Attempt] || success[p.Failure.Attempt]:
				t.Fatalf("outcomes: %+v", p)
			case seen[p.Success] || seen[p.Failure] || p.Success.From > p.Success.To || p.Failure.From > p.Failure.To:
				t.Fatalf("segments: %+v", got)
			}
			seen[p.Success], seen[p.Failure] = true, true
		}
		if again := Pairs(g); !reflect.DeepEqual(got, again) {
			t.Fatalf("first %+v, then %+v", got, again)
		}
	})
}

// TestPairsOfLongAttempts: a thousand steps cost no more comparisons than a few.
func TestPairsOfLongAttempts(t *testing.T) {
	var b strings.Builder
	b.WriteString("task Sort the files\n")
	for attempt := range 4 {
		fmt.Fprintf(&b, "attempt %d\n", attempt%2)
		for step := range 1000 {
			fmt.Fprintf(&b, "sort {\"file\":\"F%d-%d\",\"stable\":%d} => sorted\n", attempt, step, attempt%2)
		}
	}
	g, asked := parseGroup(t, b.String()), make(map[string]bool)
	calls := 0
	g.Alike = func(a, b string) float64 {
		calls++
		asked[a], asked[b] = true, true
		return sharedWords(a, b)
	}
	Pairs(g)
	if len(asked) != 2*maxSegments || calls != maxSegments*maxSegments {
		t.Errorf("%d texts compared %d times", len(asked), calls)
	}
	drafts, _ := Distil(g)
	if calls > 2*maxSegments*maxSegments {
		t.Errorf("the rules compare %d times", calls-maxSegments*maxSegments)
	}
	for text := range asked {
		if len([]rune(text)) > maxSegText {
			t.Errorf("a text of %d characters", len([]rune(text)))
		}
	}
	checkDrafts(t, g, drafts, nil)
}

// TestWayEndsWithTheRightStep: a step made twice in a segment is told once, where it made the difference.
func TestWayEndsWithTheRightStep(t *testing.T) {
	g := parseGroup(t, `task Restore volume mail
attempt 1
restore {"point":"previous"} => error: 423 locked
unlock {"owner":"ops"} => error: 423 still locked
restore {"point":"previous"} => restored
attempt 0
restore {"point":"previous"} => error: 423 locked
force {"point":"previous"} => error: 500 damaged
`)
	g.Alike = sharedWords
	drafts, _ := Distil(g)
	for _, d := range drafts {
		if strings.HasPrefix(d.Feature, "segment:") && strings.Count(d.Content, "`restore`") != 1 {
			t.Errorf("%q", d.Content)
		}
	}
	s := newScene(g)
	segment := s.segments(s.successes[0])[0]
	told := s.told(segment, segment.calls[2])
	if len(told) != 1 || told[0].index != 2 {
		t.Errorf("told %v, want the last step", told)
	}
}

// TestRetryCoversThePair: the lesson of a retry takes the place of what a pair of the same attempts says, of no other.
func TestRetryCoversThePair(t *testing.T) {
	g := parseGroup(t, meeting)
	g.Alike = sharedWords
	drafts, _ := Distil(g)
	i := slices.IndexFunc(drafts, func(d Draft) bool { return d.Feature == "segment:post_letter>send_message" })
	if i < 0 {
		t.Fatalf("no lesson of the pair: %+v", drafts)
	}
	for _, tc := range []struct {
		attempts []int
		want     bool
	}{{[]int{0, 2}, true}, {[]int{0, 1, 2}, true}, {[]int{0, 1}, false}} {
		if got := Covered(drafts[i], Draft{Lens: LensReflection, Attempts: tc.attempts}); got != tc.want {
			t.Errorf("retry of %v: covered %v, want %v", tc.attempts, got, tc.want)
		}
	}
	for _, d := range drafts {
		if d.Feature == "difference" && Covered(d, Draft{Lens: LensReflection, Attempts: []int{0, 1, 2}}) {
			t.Error("the difference of whole attempts is covered")
		}
	}
}
