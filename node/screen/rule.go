package screen

import (
	"regexp"
	"slices"
	"strings"
)

// rule finds one kind of thing in a folded text.
type rule struct {
	name   string
	needs  []string // a text without any of these, in lower case, has no match; nil: no short cut
	kind   Kind
	action Action
	re     *regexp.Regexp
	whole  bool                                         // a match that does not pass check is passed over as a whole
	group  int                                          // the part of the match that is meant; 0 the whole
	check  func(text string, start, end int) bool       // nil: every match counts
	trim   func(text string, start, end int) (int, int) // nil: the match as it is
}

// find returns the matches in text; lower is the text in lower case. The short cut matters: the regular expressions take
// microseconds a character, and most texts have none of the words they are about.
func (r rule) find(text, lower string) []Finding {
	if !r.possible(lower) {
		return nil
	}
	var found []Finding
	for from := 0; from <= len(text); {
		at := r.re.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		start, end := from+at[2*r.group], from+at[2*r.group+1]
		next := from + at[1]
		if r.trim != nil {
			start, end = r.trim(text, start, end)
		}
		if start < end && (r.check == nil || r.check(text, start, end)) {
			found = append(found, Finding{Kind: r.kind, Rule: r.name, Start: start, End: end, Action: r.action})
			next = max(end, from+at[0]+1)
		} else if !r.whole {
			next = from + at[0] + 1 // what was no match may hide the start of one
			for next < len(text) && !startsRune(text[next]) {
				next++
			}
		}
		from = next
	}
	return found
}

func (r rule) possible(lower string) bool {
	return r.needs == nil || slices.ContainsFunc(r.needs, func(word string) bool { return strings.Contains(lower, word) })
}

func startsRune(b byte) bool { return b&0xc0 != 0x80 }

func checkText(f func(string) bool) func(string, int, int) bool {
	return func(text string, start, end int) bool { return f(text[start:end]) }
}
