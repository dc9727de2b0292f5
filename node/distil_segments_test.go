package node

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/llm"
)

// moving are three attempts at one task, of which two failed at different ends of it.
func moving() api.RecordTrajectory {
	attempt := func(reward float64, notify, tool, channel, end string) api.Attempt {
		return api.Attempt{Reward: &reward, Steps: []api.Step{
			{Tool: "find_event", Args: map[string]any{"guest": "ana"}, Observation: "event EV-31 on Tuesday"},
			{Tool: "move_event", Args: map[string]any{"event": "EV-31", "day": "Friday", "notify": notify}, Observation: "moved"},
			{Tool: "find_contact", Args: map[string]any{"name": "ana"}, Observation: "contact CT-77, prefers chat"},
			{Tool: tool, Args: map[string]any{"contact": "CT-77", "channel": channel}, Observation: end},
		}}
	}
	return api.RecordTrajectory{
		Task: "Move the meeting with ana to Friday and tell ana", TaskType: "calendar", Complete: true,
		Attempts: []api.Attempt{
			attempt(1, "all", "send_message", "chat", "sent"),
			attempt(0, "none", "send_message", "chat", "sent"),
			attempt(0, "all", "post_letter", "post", "error: 422 no postal address"),
		},
	}
}

// segmentLessons are what the comparison of segments left in an agent's pool.
func (s *site) segmentLessons(c api.Caller) (out []api.Experience) {
	for _, e := range s.own(c) {
		if e.Kind == "contrast" && strings.HasPrefix(e.Content, "Avoid `post_letter`") {
			out = append(out, e)
		}
	}
	return out
}

func TestSegmentsAreCompared(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	first := s.record(ann, moving())
	got := s.segmentLessons(ann)
	if len(got) != 1 || !strings.Contains(got[0].Content, "Instead: `find_contact` with name=<name>, then `send_message`") {
		t.Fatalf("lessons of segments: %+v; discarded %+v", got, first.Discarded)
	}
	all := len(s.own(ann))
	s.record(ann, moving())
	if again := len(s.own(ann)); again != all {
		t.Errorf("%d experiences after the same was recorded again, %d before", again, all)
	}
}

// TestModelIsShownPairs: the model gets the segments to compare, and what it says of them takes the place of the rules.
func TestModelIsShownPairs(t *testing.T) {
	o := newOracle(t, map[string]string{"experiences": `{"experiences":[{"lens":"contrast","scenario":"telling somebody about a moved meeting","content":"Use send_message where the contact prefers chat, not post_letter.","keywords":["meeting","chat","contact"],"tools":["post_letter","send_message"],"attempts":[0,2],"confidence":0.9}]}`})
	s := newModelSite(t, o, nil, llm.RoleDistil)
	ann := s.agent("ann-1", "ann")
	s.record(ann, moving())
	if got := s.segmentLessons(ann); len(got) != 0 {
		t.Errorf("the rules spoke too: %+v", got)
	}
	asked := strings.Join(o.prompts, "\n")
	if !strings.Contains(asked, "Pairs of segments:\n") || !strings.Contains(asked, `; failure, attempt 2: {"tool":"find_contact"`) {
		t.Errorf("asked %s", asked)
	}
}

// failingEncoder answers so many times and then never again.
type failingEncoder struct {
	Encoder
	left atomic.Int64
}

func (f *failingEncoder) Embed(ctx context.Context, text string) (embed.Vector, error) {
	if f.left.Add(-1) < 0 {
		return embed.Vector{}, errors.New("the encoder is gone")
	}
	return f.Encoder.Embed(ctx, text)
}

// TestSegmentsWithoutAnEncoder: the other lessons are there, and none hangs on how many segments were embedded before the
// encoder went away.
func TestSegmentsWithoutAnEncoder(t *testing.T) {
	embedded, err := sharedEncoder()
	if err != nil {
		t.Fatal(err)
	}
	for _, answers := range []int64{0, 2} { // the task takes one, so that segments find it gone or lose it on the way
		failing := &failingEncoder{Encoder: embedded}
		failing.left.Store(answers)
		s := &site{t: t, dir: t.TempDir(), encoder: failing}
		s.start()
		ann := s.agent("ann-1", "ann")
		s.record(ann, moving())
		if got := s.segmentLessons(ann); len(got) != 0 {
			t.Errorf("%d answers: lessons of segments %+v", answers, got)
		}
		if kinds := len(s.own(ann)); kinds < 3 {
			t.Errorf("%d answers: only %d lessons", answers, kinds)
		}
		if failing.left.Load() >= 0 {
			t.Errorf("%d answers: the encoder was not asked", answers)
		}
		s.stop()
	}
}

func TestLikeness(t *testing.T) {
	calls := 0
	vectors := map[string]embed.Vector{
		"a": {Embedder: embed.MiniLM, Values: []float32{1, 0}}, "b": {Embedder: embed.MiniLM, Values: []float32{1, 1}},
		"other": {Embedder: embed.E5, Values: []float32{1, 0}}, "unknown": {Embedder: "?", Values: []float32{1, 0}},
	}
	l := likeness{embed: func(text string) (embed.Vector, error) {
		calls++
		v, ok := vectors[text]
		if !ok {
			return v, errors.New("gone")
		}
		return v, nil
	}}
	for range 2 {
		if got := l.alike("a", "b"); got < .70 || got > .71 {
			t.Errorf("cosine %v, want .707", got)
		}
	}
	if calls != 2 {
		t.Errorf("%d texts embedded, want each once", calls)
	}
	for _, pair := range [][2]string{{"a", "other"}, {"unknown", "unknown"}, {"a", " "}} {
		if got := l.alike(pair[0], pair[1]); got != 0 || l.err != nil {
			t.Errorf("%v: %v, %v; want nothing in common", pair, got, l.err)
		}
	}
	if got := l.alike("a", "gone"); got != 0 || l.err == nil {
		t.Errorf("after an error: %v, %v", got, l.err)
	}
	if got := l.alike("a", "b"); got != 0 {
		t.Errorf("after an error all is unlike, got %v", got)
	}
}
