package acquire

import (
	"regexp"
	"strings"

	"cairn/federation"
	"cairn/index/embed"
)

const (
	// nearCopyJaccard is the share of common words, in micro-units, from which two texts are near copies.
	nearCopyJaccard = 900_000
	// sameContent and sameScenario are the cosines, on the scale common to all encoders, from which two lessons may say the
	// same and be for the same case. The contents have to be closer: wordings of one case differ more than those of one
	// lesson. Together with the vetoes they merge .8 % of labelled pairs that differ and split half of those that do not.
	// Lower ones look better on pairs that the vetoes were made on (.72 and .50: .8 % and 14 %), and are not: of pairs
	// written afterwards they merge 12 % (these here 3 %). DESIGN.md tells what else was tried. A wrong merge loses
	// knowledge, a split only room.
	sameContent  = .86
	sameScenario = .60
)

// Duplicate decides whether two experiences say the same, so that one may be merged into the other (section 1.7 of the
// rules of memory): their words are nearly the same, or the cosines of their scenarios and of their contents are both high
// enough; and they are of one kind, their contents have the same literals, and no veto speaks against it. The cosines are
// native ones of the encoder of profile; what cannot be compared is given as -1. Equal texts are found by their hash before
// this is asked.
func Duplicate(a, b federation.DedupeSide, scenario, content float64, profile embed.Profile) bool {
	if profile.Common(content) < sameContent || profile.Common(scenario) < sameScenario {
		if federation.Jaccard(tokenSet(a), tokenSet(b)) < nearCopyJaccard {
			return false
		}
	}
	return sameKind(a.Kind, b.Kind) && hasLiterals(a.Content, b.Content) && hasLiterals(b.Content, a.Content) &&
		len(federation.Vetoes(a, b)) == 0
}

func tokenSet(s federation.DedupeSide) []uint64 {
	return federation.TokenSet(s.Scenario + "\n" + s.Content)
}

// sameKind reports whether two kinds may be one: a plan, a way out of an error and a contrast are put to different uses,
// also where they name the same calls. What an agent wrote itself may be of any kind.
func sameKind(a, b federation.Kind) bool {
	return a == b || a == "" || b == "" || a == federation.KindDirect || b == federation.KindDirect
}

var literal = regexp.MustCompile("`[^`]+`" + `|"(?:[^"\\]|\\.)+"`)

// hasLiterals reports whether what of sets in backticks or double quotes stands in in: names of tools, pieces of commands
// and values are meant to the letter, however alike the sentences around them are.
func hasLiterals(in, of string) bool {
	for _, span := range literal.FindAllString(of, -1) {
		if !strings.Contains(in, span[1:len(span)-1]) {
			return false
		}
	}
	return true
}
