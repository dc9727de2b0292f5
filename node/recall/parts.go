package recall

import (
	"cmp"
	"slices"
	"strings"

	"cairn/index"
)

const (
	minPart  = 20 // characters from which a line is worth a search of its own
	maxParts = 6
)

// Parts are the lines of a task that ask for something each, such as the messages of a conversation, at most maxParts,
// the longest ones, in order; none for a task of one line. A text of several wishes as a whole is near to nothing.
func Parts(text string) []string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len([]rune(line)) >= minPart {
			parts = append(parts, line)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	if len(parts) > maxParts {
		lengths := make([]int, len(parts))
		for i, p := range parts {
			lengths[i] = len(p)
		}
		slices.Sort(lengths)
		least := lengths[len(lengths)-maxParts]
		parts = slices.DeleteFunc(parts, func(p string) bool { return len(p) < least })
		parts = parts[:maxParts]
	}
	return parts
}

// Merge joins the hits of a task with those of its parts: the score is the mean of that for the whole and the best for a
// part, 0 where it was not found; it is above the floor when any of them was. All searches have to ignore the floor. The
// other fields are those of the whole, or of the part where the whole did not find it. The result is ordered by score,
// then id, and cut at limit. On tasks of several messages this finds a fitting lesson in 88 of 100 places; the whole
// alone in 86, the best part alone in 86.
func Merge(limit int, whole []index.Hit, parts ...[]index.Hit) []index.Hit {
	merged := make(map[string]index.Hit)
	best := make(map[string]float64)
	for _, list := range parts {
		for _, h := range list {
			known, ok := merged[h.ID]
			above := h.AboveFloor || known.AboveFloor
			if !ok || h.Score > best[h.ID] {
				known, best[h.ID] = h, h.Score
			}
			known.AboveFloor = above
			merged[h.ID] = known
		}
	}
	for id, h := range merged {
		h.Score /= 2
		merged[id] = h
	}
	for _, h := range whole {
		h.AboveFloor = h.AboveFloor || merged[h.ID].AboveFloor
		h.Score = (h.Score + best[h.ID]) / 2
		merged[h.ID] = h
	}
	out := make([]index.Hit, 0, len(merged))
	for _, h := range merged {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b index.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return out[:min(len(out), limit)]
}
