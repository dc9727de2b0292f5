package federation

import (
	"regexp"
	"slices"
	"strings"
)

// facts is what a text says that a paraphrase keeps.
type facts struct {
	quoted    []string // normalised contents of quotes
	hard      []string // numbers that must be matched, "value|unit"
	soft      []string // "one" and "a week": said or left out at will
	dates     []string
	ids       []string
	names     []string    // written like proper names
	maybe     []string    // capitals at the start of a sentence that may be names
	members   [][]int     // by family: the members that occur
	polarity  [2]polarity // of scenario and content
	orders    []relation  // what comes before what
	flat      string      // normalised text, padded with spaces
	sequences [][]string
}

var (
	doubleQuoted = regexp.MustCompile(`"([^"\n]{1,200})"`)
	singleQuoted = regexp.MustCompile(`(^|[\s(\[{=:,])'([^'\n]{1,200})'($|[\s)\]}.,;:!?])`)
)

// factsOf reads scenario and content as one text: paraphrases move things between the two.
func factsOf(side DedupeSide) facts {
	var f facts
	var tokens []token
	var said [][]sentenceUnit
	var flat string
	for i, text := range []string{readable(side.Scenario), readable(side.Content)} {
		f.flat += flatten(text) + "\n"
		body := f.takeQuoted(text)
		flat += flatten(body) + "\n"
		part := append(tokenize(digits(body)), token{kind: tokenMark, text: ".", lower: "."})
		read := sentences(part)
		f.polarity[i] = polarityOf(read)
		said = append(said, read...)
		tokens = append(tokens, part...)
	}
	f.readTokens(tokens)
	f.members = membersOf(flat)
	f.orders = ordersOf(said)
	f.sequences = [][]string{sequence(side.Scenario), sequence(side.Content)}
	for _, set := range []*[]string{&f.quoted, &f.hard, &f.soft, &f.dates, &f.ids, &f.names, &f.maybe} {
		slices.Sort(*set)
		*set = slices.Compact(*set)
	}
	return f
}

// flatten returns the text as words divided and surrounded by single spaces, Han runs included.
func flatten(text string) string {
	var b strings.Builder
	b.WriteByte(' ')
	for _, t := range tokenize(strings.ReplaceAll(text, "'", "")) {
		if t.kind != tokenMark {
			b.WriteString(t.lower)
			b.WriteByte(' ')
		} else if t.text != "," {
			b.WriteString("\n ")
		}
	}
	return b.String()
}

// takeQuoted moves the quoted strings out of the text. Quoted words are values, not language: they neither
// negate nor count.
func (f *facts) takeQuoted(text string) string {
	take := func(s string) {
		if s = NormalizeText(s); s != "" {
			f.quoted = append(f.quoted, s)
		}
	}
	for _, m := range doubleQuoted.FindAllStringSubmatch(text, -1) {
		take(m[1])
	}
	text = doubleQuoted.ReplaceAllString(text, ` " `)
	for _, m := range singleQuoted.FindAllStringSubmatch(text, -1) {
		take(m[2])
	}
	return singleQuoted.ReplaceAllString(text, `$1 " $3`)
}

// readTokens sorts words into numbers, dates, ids and names.
func (f *facts) readTokens(tokens []token) {
	for i := 0; i < len(tokens); {
		if n := f.readDate(tokens, i); n > 0 {
			i += n
			continue
		}
		if n := f.readNumber(tokens, i); n > 0 {
			i += n
			continue
		}
		if t := tokens[i]; t.kind == tokenWord {
			f.readWord(t)
		} else if t.kind == tokenHan {
			f.names = append(f.names, hanNames(t.text)...)
		}
		i++
	}
}

var (
	hanTitled = regexp.MustCompile(`([` + hanSurnames + `])(先生|女士|小姐|太太|老师|医生|总监|师傅)`)
	pathLike  = regexp.MustCompile(`^(~|\.{1,2})?/|^[A-Za-z]:\\|.+/.+/|^[\w\-]+/[\w\-]+\.\w+$`)
	addressed = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$|://|^www\.`)
	camelCase = regexp.MustCompile(`^[a-z][a-z0-9]*([A-Z][a-z0-9]*)+$`)
	dotted    = regexp.MustCompile(`^[\w\-]+(\.[\w\-]+)+$`)
	capital   = regexp.MustCompile(`^[A-Z][\p{L}'\-]+$`)
	acronym   = regexp.MustCompile(`^[A-Z][A-Z0-9&\-]+s?$`)
)

func hanNames(text string) []string {
	var names []string
	for _, m := range hanTitled.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

func (f *facts) readWord(t token) {
	word := strings.TrimSuffix(t.text, "()")
	switch {
	case t.call || isID(word):
		f.ids = append(f.ids, strings.ToLower(word))
	case commonAcronyms[t.lower]:
	case acronym.MatchString(word):
		f.names = append(f.names, strings.ToLower(word))
	case !capital.MatchString(word) || stopWords[t.lower]:
	case t.first:
		if !starters[t.lower] && !strings.HasSuffix(t.lower, "ing") {
			f.maybe = append(f.maybe, t.lower)
		}
	default:
		f.names = append(f.names, t.lower)
	}
}

// isID reports whether a word is an identifier: an address, a path, a file, a name of code, or letters mixed
// with digits.
func isID(word string) bool {
	if strings.IndexFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 {
		return false
	}
	switch {
	case addressed.MatchString(word), pathLike.MatchString(word), camelCase.MatchString(word):
		return true
	case strings.Contains(word, "_") && strings.Trim(word, "_") != "":
		return true
	case dotted.MatchString(word) && strings.ToLower(word) != "e.g" && strings.ToLower(word) != "i.e":
		return true
	}
	return strings.ContainsAny(word, "0123456789") && strings.IndexFunc(word, isLetter) >= 0
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// has reports whether the text contains s, given in normal form, as whole words.
func (f *facts) has(s string) bool {
	s = strings.Trim(flatten(readable(s)), " \n")
	if s == "" {
		return true
	}
	if strings.Contains(f.flat, " "+s+" ") {
		return true
	}
	return hanOnly(s) && strings.Contains(f.flat, s)
}
