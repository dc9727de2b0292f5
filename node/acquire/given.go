package acquire

import (
	"regexp"
	"slices"
	"strings"

	"cairn/federation"
)

// withoutGiven takes out of an observation what the agent was given by recall: the texts themselves and lines that are
// near copies of them, also where they are quoted.
func withoutGiven(text string, given []string) string {
	if len(given) == 0 || text == "" {
		return text
	}
	for _, g := range given {
		if len(strings.TrimSpace(g)) >= 12 {
			text = strings.ReplaceAll(text, g, "")
		}
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !slices.ContainsFunc(given, func(g string) bool { return repeats(line, g) }) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// repeats reports that a line is, quoted or not, most of a line of given. A lesson may quote an error; the error itself,
// met again, is much shorter than the lesson and stays.
func repeats(line, given string) bool {
	bare := strings.TrimLeft(line, "> \t")
	for g := range strings.SplitSeq(given, "\n") {
		g = strings.TrimLeft(g, "> \t")
		if 5*len(bare) >= 3*len(g) && nearCopy(bare, g) {
			return true
		}
	}
	return false
}

const (
	minCopy      = 12  // characters from which a contained text counts as a copy
	copyShingles = .90 // share of word triples two near copies have in common
)

var exact = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\d+`)

// nearCopy reports that text says what given says: it is contained in it after normalising, or it shares nine tenths of
// its word triples and has the same numbers and quoted strings. A text with another number or value is its own.
func nearCopy(text, given string) bool {
	a, b := federation.NormalizeText(text), federation.NormalizeText(given)
	if len([]rune(a)) < minCopy || b == "" {
		return false
	}
	if strings.Contains(b, a) {
		return true
	}
	return sameExact(a, b) && containment(triples(a), triples(b)) >= copyShingles
}

func sameExact(a, b string) bool {
	have := exact.FindAllString(b, -1)
	for _, x := range exact.FindAllString(a, -1) {
		if !slices.Contains(have, x) {
			return false
		}
	}
	return true
}

// triples are the sequences of three words of a text; Han characters count as words of their own.
func triples(s string) map[string]bool {
	tokens := tokens(s)
	set := make(map[string]bool)
	for i := 0; i+3 <= len(tokens); i++ {
		set[strings.Join(tokens[i:i+3], " ")] = true
	}
	if len(set) == 0 {
		set[strings.Join(tokens, " ")] = true
	}
	return set
}

func containment(a, b map[string]bool) float64 {
	both := 0
	for t := range a {
		if b[t] {
			both++
		}
	}
	return float64(both) / float64(len(a))
}

// recalled reports that every attempt behind a draft had been given its text, so that it tells nothing new.
func recalled(content string, sources []trail) bool {
	if len(sources) == 0 {
		return false
	}
	for _, t := range sources {
		if !slices.ContainsFunc(t.attempt.Given, func(g string) bool { return nearCopy(content, g) }) {
			return false
		}
	}
	return true
}
