package acquire

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

const (
	minAlike    = .3   // two segments serve the same end above this, see Group.Alike
	maxPairs    = 3    // pairs of a group
	maxSegment  = 8    // calls of a segment
	maxSegments = 12   // segments of each outcome that are compared: at most 24 texts to embed
	linkedHead  = 2048 // characters of an observation in which a call's values are looked for
	shortValue  = 3    // characters from which a value tells where it came from
	maxSegText  = 600  // characters of a segment that are compared
)

// Segment is a run of steps of one attempt that serve one end. From and To are indices into the attempt's steps, both
// included; steps between them that do not act belong to it.
type Segment struct {
	Attempt  int // its number
	From, To int
}

// Pair is a segment of a success beside one of a failure that was after the same. Alike is how alike they are, above .3.
type Pair struct {
	Success Segment
	Failure Segment
	Alike   float64
}

// Pairs returns the pairs of segments of a group that are most alike, at most 3, the most alike first (section 1.3c of the
// rules of memory). Both segments of a pair have a step that the other attempt does not have with that result, and none is in
// two pairs. There are none without Group.Alike.
func Pairs(g Group) []Pair {
	s := newScene(g)
	var out []Pair
	for _, p := range s.pairs(func(win, loss segment) bool { return win.tells(s.did(loss.trail)) }) {
		out = append(out, Pair{p.win.bounds(), p.loss.bounds(), p.alike})
	}
	return out
}

// segment is a Segment while it is worked with.
type segment struct {
	trail trail
	calls []call
	text  string // what is compared
}

func (s segment) bounds() Segment {
	return Segment{s.trail.attempt.Number, s.calls[0].index, s.calls[len(s.calls)-1].index}
}

// segments cuts a trail where a call has nothing to do with the one before it. A call belongs to the segment of the calls
// before when the last of these failed, so that an error and its answer stay together, or when it uses a value that they
// brought up and the task does not name.
func (s *scene) segments(t trail) []segment {
	var out []segment
	var current []call
	flush := func() {
		if len(current) > 0 {
			out = append(out, segment{trail: t, calls: current, text: segmentText(current)})
		}
		current = nil
	}
	for _, c := range t.calls {
		if len(current) == maxSegment || len(current) > 0 && !s.continues(current, c) {
			flush()
		}
		current = append(current, c)
	}
	flush()
	return out
}

func (s *scene) continues(before []call, c call) bool {
	if before[len(before)-1].failed {
		return true
	}
	for _, value := range broughtValues(c) {
		if observed(s.binder.task, value) {
			continue
		}
		if slices.ContainsFunc(before, func(b call) bool { return observed(headOf(b.observation, linkedHead), value) }) {
			return true
		}
	}
	return false
}

// broughtValues are the values of a call that may come from an observation; of a command its longer words.
func broughtValues(c call) []string {
	var out []string
	add := func(value string) {
		if len([]rune(value)) >= shortValue && value != "true" && value != "false" && value != "null" {
			out = append(out, value)
		}
	}
	if text, ok := c.command(); ok {
		for _, piece := range pieces(text) {
			if !strings.Contains(piece, " ") && len(piece) > shortValue {
				add(piece)
			}
		}
		return out
	}
	for _, name := range c.names {
		if value, ok := c.raw[name]; ok {
			add(value)
		}
	}
	return out
}

// segmentText is what is compared: what was done, without how it went, since right and wrong ways to one end differ in that.
func segmentText(calls []call) string {
	var parts []string
	for _, c := range calls {
		if text := c.String(); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return cut(strings.Join(parts, "; "), maxSegText)
}

// segmentPair is a Pair while it is worked with.
type segmentPair struct {
	win, loss segment
	alike     float64
}

// pairs finds the pairs that are of use. What is of no use is not compared.
func (s *scene) pairs(useful func(win, loss segment) bool) []segmentPair {
	if s.group.Alike == nil || s.best == nil || len(s.failures) == 0 {
		return nil
	}
	wins := s.telling(s.bestFirst(), s.inAll(s.failures))
	losses := s.telling(s.failures, s.inAny(s.successes))
	var all []segmentPair
	for _, w := range wins {
		for _, l := range losses {
			if !useful(w, l) {
				continue
			}
			if alike := s.group.Alike(w.text, l.text); alike > minAlike && !math.IsInf(alike, 0) {
				all = append(all, segmentPair{w, l, alike})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b segmentPair) int { return cmp.Compare(b.alike, a.alike) })
	return eachOnce(all)
}

// bestFirst are the successes, the one with the best plan before the others.
func (s *scene) bestFirst() []trail {
	out := []trail{*s.best}
	for _, t := range s.successes {
		if t.attempt.Number != s.best.attempt.Number {
			out = append(out, t)
		}
	}
	return out
}

// done is a call with how it went.
type done struct {
	text   string
	failed bool
}

// memo is what of a scene is asked for again and again.
type memo struct {
	did     map[*call]map[done]bool // by the first call of a trail
	credits map[*call][]float64
	weights func(call) float64
}

// did are the calls of a trail.
func (s *scene) did(t trail) map[done]bool {
	if set, ok := s.memo.did[&t.calls[0]]; ok {
		return set
	}
	set := make(map[done]bool, len(t.calls))
	for _, c := range t.calls {
		set[done{c.String(), c.failed}] = true
	}
	if s.memo.did == nil {
		s.memo.did = make(map[*call]map[done]bool)
	}
	s.memo.did[&t.calls[0]] = set
	return set
}

// inAny is what at least one of the trails did.
func (s *scene) inAny(trails []trail) map[done]bool {
	set := make(map[done]bool)
	for _, t := range trails {
		maps.Copy(set, s.did(t))
	}
	return set
}

// inAll is what every one of the trails did.
func (s *scene) inAll(trails []trail) map[done]bool {
	set := maps.Clone(s.did(trails[0]))
	for _, t := range trails[1:] {
		other := s.did(t)
		maps.DeleteFunc(set, func(d done, _ bool) bool { return !other[d] })
	}
	return set
}

// tells reports a call that others do not have with that result.
func (s segment) tells(others map[done]bool) bool {
	return slices.ContainsFunc(s.calls, func(c call) bool { return !others[done{c.String(), c.failed}] })
}

// telling are the different segments of trails that have a call which others do not have with that result.
func (s *scene) telling(trails []trail, others map[done]bool) []segment {
	var out []segment
	seen := make(map[string]bool)
	for _, t := range trails {
		for _, g := range s.segments(t) {
			if seen[g.text] || !g.tells(others) {
				continue
			}
			seen[g.text] = true
			if out = append(out, g); len(out) == maxSegments {
				return out
			}
		}
	}
	return out
}

// eachOnce keeps the first pairs in which no segment comes again.
func eachOnce(pairs []segmentPair) []segmentPair {
	var out []segmentPair
	wins, losses := make(map[string]bool), make(map[string]bool)
	for _, p := range pairs {
		if wins[p.win.text] || losses[p.loss.text] || len(out) == maxPairs {
			continue
		}
		wins[p.win.text], losses[p.loss.text] = true, true
		out = append(out, p)
	}
	return out
}
