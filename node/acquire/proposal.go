package acquire

import (
	"slices"

	"cairn/federation"
)

// Cleaned are the steps of an attempt without what a recall gave its agent: recalled guidance and near copies of the
// texts in Given. Steps that did nothing but ask the memory are left out. It is what a language model is shown.
func Cleaned(a Attempt) []Step {
	out := make([]Step, 0, len(a.Steps))
	for _, s := range a.Steps {
		clean, asked := withoutRecalled(s, a.Given)
		if asked {
			continue
		}
		clean.Thought = withoutGiven(withoutMarked(clean.Thought), a.Given)
		out = append(out, clean)
	}
	return out
}

// Recalled reports whether a draft that came from elsewhere repeats what one of its attempts was given by recall.
func Recalled(d Draft, g Group) bool {
	for _, a := range g.Attempts {
		if slices.Contains(d.Attempts, a.Number) && slices.ContainsFunc(a.Given, func(given string) bool { return nearCopy(d.Content, given) }) {
			return true
		}
	}
	return false
}

// Decide completes a verdict of which the dimensions are known: score, admission and reason, by the same rule as Judge.
func Decide(v Verdict, kind federation.Kind, profile string) Verdict {
	return DecideAt(v, threshold(profile, kind))
}

// DecideAt is Decide with a threshold of its own in [0,1].
func DecideAt(v Verdict, least float64) Verdict {
	v.Score = (v.Actionability + v.Accuracy + v.Relevance + v.Clarity + v.Uniqueness) / 5
	v.Reason = v.refusal(least)
	v.Admit = v.Reason == ""
	return v
}
