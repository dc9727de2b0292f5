package screen

import "regexp"

// rule finds one kind of thing in a folded text.
type rule struct {
	name   string
	kind   Kind
	action Action
	re     *regexp.Regexp
	whole  bool                                         // a match that does not pass check is passed over as a whole
	group  int                                          // the part of the match that is meant; 0 the whole
	check  func(text string, start, end int) bool       // nil: every match counts
	trim   func(text string, start, end int) (int, int) // nil: the match as it is
}

func (r rule) find(text string) []Finding {
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

func startsRune(b byte) bool { return b&0xc0 != 0x80 }

func checkText(f func(string) bool) func(string, int, int) bool {
	return func(text string, start, end int) bool { return f(text[start:end]) }
}
