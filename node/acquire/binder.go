package acquire

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of the task that has become a placeholder.
type span struct {
	start, end int
	name       string
}

// binder replaces the values of tool calls that come from the task by placeholders, the same value of the same argument
// always by the same one, and remembers where they stand in the task.
type binder struct {
	task   string
	dates  []taskDate
	names  map[string]string // argument \x00 value -> placeholder
	counts map[string]int    // argument -> distinct values so far
	spans  []span            // in the order in which values were bound
}

func newBinder(task string) *binder {
	return &binder{task: task, dates: datesIn(task), names: make(map[string]string), counts: make(map[string]int)}
}

// bind returns the placeholder of a value, or ok false when the value is the plan's own. observed reports whether the
// value was in an observation before the call.
func (b *binder) bind(tool, arg, value string, observed func(string) bool) (placeholder string, ok bool) {
	if len(value) > 400 || !strings.ContainsFunc(value, inWordOrHan) {
		return "", false
	}
	key := arg + "\x00" + value
	if name, ok := b.names[key]; ok {
		return name, true
	}
	if places := b.places(tool, arg, value); len(places) > 0 {
		name := b.name(arg, value, "")
		for _, at := range places {
			b.spans = append(b.spans, span{at[0], at[1], name})
		}
		return name, true
	}
	if date, form, ok := rewritten(value, b.dates); ok {
		name := b.name(arg, value, form)
		b.spans = append(b.spans, span{date.start, date.end, placeholderName(arg, 1)})
		return name, true
	}
	if looksLikeID(value) && observed(value) {
		return b.name(arg, value, ""), true
	}
	return "", false
}

// name gives the placeholder of a new value: <arg>, <arg2> for the second value of the same argument, <arg:FORM> for a
// value of the task that has to be rewritten.
func (b *binder) name(arg, value, form string) string {
	b.counts[arg]++
	name := placeholderName(arg, b.counts[arg])
	if form != "" {
		name = strings.TrimSuffix(name, ">") + ":" + form + ">"
	}
	b.names[arg+"\x00"+value] = name
	return name
}

func placeholderName(arg string, n int) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, arg)
	if clean == "" {
		clean = "value"
	}
	if n > 1 {
		return fmt.Sprintf("<%s%d>", clean, n)
	}
	return "<" + clean + ">"
}

// looksLikeID reports a value that an environment made up: it has a digit, is longer than a counter, and is one word.
func looksLikeID(value string) bool {
	return len(value) >= 3 && len(value) <= 80 && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, " \t\n")
}

// places are the byte ranges of the task where value stands as a whole word and is a value rather than a word of the
// sentence.
func (b *binder) places(tool, arg, value string) (found [][2]int) {
	for at := range occurrences(b.task, value) {
		if b.isValue(tool, arg, value, at) {
			found = append(found, [2]int{at, at + len(value)})
		}
	}
	return found
}

// occurrences yields the offsets at which value stands in task as a whole word, letter case ignored for ASCII.
func occurrences(task, value string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for from := 0; from+len(value) <= len(task); {
			at := indexFold(task[from:], value)
			if at < 0 {
				return
			}
			at += from
			if wordAt(task, at, at+len(value)) && !yield(at) {
				return
			}
			from = at + max(1, len(value))
		}
	}
}

// indexFold is strings.Index that takes ASCII letters of either case for the same.
func indexFold(s, sub string) int {
	if sub == "" {
		return 0
	}
	low := lowerASCII(sub[0])
	up := low
	if low >= 'a' && low <= 'z' {
		up = low - 'a' + 'A'
	}
	for from := 0; from+len(sub) <= len(s); {
		at := strings.IndexByte(s[from:], low)
		if up != low {
			if other := strings.IndexByte(s[from:], up); other >= 0 && (at < 0 || other < at) {
				at = other
			}
		}
		if at < 0 || from+at+len(sub) > len(s) {
			return -1
		}
		if from += at; equalFoldASCII(s[from:from+len(sub)], sub) {
			return from
		}
		from++
	}
	return -1
}

func equalFoldASCII(a, b string) bool {
	for i := range len(a) {
		if lowerASCII(a[i]) != lowerASCII(b[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func wordAt(s string, start, end int) bool {
	first, _ := utf8.DecodeRuneInString(s[start:])
	last, _ := utf8.DecodeLastRuneInString(s[:end])
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	return !(joined(before, first) || joined(last, after))
}

// joined reports whether two neighbouring runes belong to one word. Han text has no spaces, so that Han never joins.
func joined(a, b rune) bool { return inWord(a) && inWord(b) }

func inWord(r rune) bool {
	return (unicode.IsLetter(r) && !unicode.Is(unicode.Han, r)) || unicode.IsDigit(r) || r == '_'
}

func inWordOrHan(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// counters are arguments that number or limit something; a small number in the task is rarely meant for them.
var counters = map[string]bool{
	"page": true, "limit": true, "offset": true, "size": true, "per_page": true, "page_size": true, "retries": true,
	"retry": true, "seconds": true, "wait": true, "timeout": true, "delay": true, "attempt": true, "top_k": true, "n": true,
}

// isValue tells a value of the task from a word of its sentence that happens to be the same. Beside the argument's name
// or in quotes everything is a value. Else a small number is none for a counter, and a plain lower-case word is none when
// it opens the sentence (a verb) or belongs to the tool's own name ("flight" of search_flights).
func (b *binder) isValue(tool, arg, value string, at int) bool {
	if b.quoted(at, at+len(value)) || b.cued(arg, at, at+len(value)) {
		return true
	}
	switch {
	case value == "true" || value == "false":
		return false
	case isNumber(value):
		return !counters[strings.ToLower(arg)]
	case !plainWord(value):
		return true
	}
	return !b.sentenceStart(at) && !slices.ContainsFunc(words(tool), func(part string) bool { return sameStem(part, value) })
}

func plainWord(s string) bool { return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == "" }

func sameStem(a, b string) bool {
	return strings.TrimSuffix(a, "s") == strings.TrimSuffix(b, "s")
}

func isNumber(s string) bool {
	digits := strings.TrimPrefix(strings.Replace(s, ".", "", 1), "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func (b *binder) quoted(start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(b.task[:start])
	after, _ := utf8.DecodeRuneInString(b.task[end:])
	return strings.ContainsRune("\"'`“‘「《", before) && strings.ContainsRune("\"'`”’」》", after)
}

func (b *binder) sentenceStart(at int) bool {
	head := strings.TrimRight(b.task[:at], " \n\t\"'")
	return head == "" || strings.HasSuffix(head, ".") || strings.HasSuffix(head, "!") || strings.HasSuffix(head, "?") || strings.HasSuffix(head, "\n")
}

var separators = regexp.MustCompile(`[^\pL\pN]+`)

// cued reports whether a part of the argument's name is one of the three words before the value or the word after it.
func (b *binder) cued(arg string, start, end int) bool {
	before := strings.Fields(separators.ReplaceAllString(strings.ToLower(tail(b.task[:start], 60)), " "))
	after := strings.Fields(separators.ReplaceAllString(strings.ToLower(headOf(b.task[end:], 30)), " "))
	near := append(before[max(0, len(before)-3):], after[:min(1, len(after))]...)
	for _, part := range words(arg) {
		if len(part) >= 2 && slices.ContainsFunc(near, func(w string) bool { return w == part || w == part+"s" }) {
			return true
		}
	}
	return false
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// words splits an identifier at its separators and at its humps, in lower case.
func words(name string) []string {
	var b strings.Builder
	previous := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(previous) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		previous = r
	}
	return strings.Fields(b.String())
}

// generalise returns text with the values bound so far, longest first, replaced by their placeholders.
func (b *binder) generalise(text string) string {
	if text == b.task {
		return replaceSpans(text, b.spans)
	}
	var spans []span
	for _, s := range b.spans {
		value := b.task[s.start:s.end]
		if len(value) < 2 {
			continue
		}
		for at := range occurrences(text, value) {
			spans = append(spans, span{at, at + len(value), s.name})
		}
	}
	return replaceSpans(text, spans)
}

// replaceSpans replaces ranges of text; where they overlap the longer wins, then the one bound first.
func replaceSpans(text string, spans []span) string {
	ordered := slices.Clone(spans)
	slices.SortStableFunc(ordered, func(a, b span) int { return cmp.Compare(b.end-b.start, a.end-a.start) })
	var chosen []span
	for _, s := range ordered {
		if !slices.ContainsFunc(chosen, func(c span) bool { return s.start < c.end && c.start < s.end }) {
			chosen = append(chosen, s)
		}
	}
	slices.SortFunc(chosen, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out strings.Builder
	last := 0
	for _, s := range chosen {
		out.WriteString(text[last:s.start])
		out.WriteString(s.name)
		last = s.end
	}
	out.WriteString(text[last:])
	return out.String()
}
