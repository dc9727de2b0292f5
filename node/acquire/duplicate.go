package acquire

import (
	"cairn/federation"
	"cairn/index/embed"
)

// nearCopyJaccard is the share of common words, in micro-units, from which two texts are near copies.
const nearCopyJaccard = 900_000

// Duplicate decides whether two experiences say the same, so that one may be merged into the other (section 1.7 of the
// rules of memory): their words are nearly the same, or both cosines, of the scenarios and of the contents, reach the
// encoder's threshold; and no veto speaks against it. The cosines are native ones of the encoder of profile; what cannot
// be compared is given as -1. Equal texts are found by their hash before this is asked.
func Duplicate(a, b federation.DedupeSide, scenario, content float64, profile embed.Profile) bool {
	if content < profile.Duplicate || scenario < profile.Duplicate {
		if federation.Jaccard(tokenSet(a), tokenSet(b)) < nearCopyJaccard {
			return false
		}
	}
	return len(federation.Vetoes(a, b)) == 0
}

func tokenSet(s federation.DedupeSide) []uint64 {
	return federation.TokenSet(s.Scenario + "\n" + s.Content)
}
