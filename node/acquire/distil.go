package acquire

import (
	"fmt"
	"slices"
)

// source is a draft with the attempts it was made from.
type source struct {
	draft Draft
	from  []trail
}

// Distil turns a group of attempts into drafts, at most MaxPerLens for each lens and no two with one text. What it could
// not use is discarded with a reason: a group without rewards, without tool calls, or in which no lens sees anything
// repeatable; a draft that repeats what its source attempts were given by recall, or does not fit the limits. The same
// group gives the same drafts in the same order.
func Distil(g Group) ([]Draft, []Discard) {
	s := newScene(g)
	if len(s.successes)+len(s.failures) == 0 {
		return nil, []Discard{unusable(g)}
	}
	var drafts []Draft
	var discards []Discard
	seen := make(map[string]bool)
	for _, look := range s.lenses() {
		lens := look()
		for _, found := range lens[:min(len(lens), MaxPerLens)] {
			if discard, ok := refuse(found); ok {
				discards = append(discards, discard)
			} else if !seen[found.draft.Content] {
				seen[found.draft.Content] = true
				drafts = append(drafts, found.draft)
			}
		}
	}
	if len(drafts)+len(discards) == 0 {
		discards = append(discards, Discard{ReasonNoLens, "no success and no error to learn from"})
	}
	return drafts, discards
}

// lenses are those that the group wants, in their order.
func (s *scene) lenses() (wanted []func() []source) {
	for _, lens := range []struct {
		name string
		look func() []source
	}{{LensSuccess, s.success}, {LensContrast, s.contrast}, {LensFailure, s.failure}, {LensToolUse, s.toolUse}} {
		if len(s.group.Lenses) == 0 || slices.Contains(s.group.Lenses, lens.name) {
			wanted = append(wanted, lens.look)
		}
	}
	return wanted
}

func refuse(s source) (Discard, bool) {
	what := s.draft.Lens + " " + s.draft.Feature
	if n := len([]rune(s.draft.Content)); n > MaxContent {
		return Discard{ReasonTooLong, fmt.Sprintf("%s: %d of at most %d characters", what, n, MaxContent)}, true
	}
	if recalled(s.draft.Content, s.from) {
		return Discard{ReasonRecalled, what + ": its attempts were given this text"}, true
	}
	return Discard{}, false
}

func unusable(g Group) Discard {
	if len(rewardedAttempts(g.Attempts)) == 0 {
		return Discard{ReasonNoReward, "no attempt has a reward"}
	}
	return Discard{ReasonNoSteps, "no attempt calls a tool"}
}
