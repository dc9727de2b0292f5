package keyword

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"golang.org/x/text/unicode/norm"
)

// Longest tokens in bytes. A longer identifier (a key, a base64 block) is not kept whole, a longer word is cut.
const (
	maxWhole = 128
	maxWord  = 64
)

// Tokenize returns the tokens of text in order, repeats included. Text is brought to NFKC; invalid bytes separate words.
//
//   - A word of letters is lower-cased, dropped when it is an English stop word, and stemmed.
//   - An identifier (a run of letters and digits with inner . _ - / : \ @ # or + or a change of case or between letters and
//     digits) is kept whole in lower case, and its parts follow as words.
//   - A run of Han, kana or hangul gives each rune and each pair of neighbours.
//
// The empty result is nil.
func Tokenize(text string) []string {
	t := tokens{}
	rest := norm.NFKC.String(strings.ToValidUTF8(text, " "))
	for rest != "" {
		n, kind := nextRun(rest)
		switch kind {
		case runCJK:
			t.pairs(rest[:n])
		case runWord:
			t.identifier(rest[:n])
		}
		rest = rest[n:]
	}
	return t.out
}

type runKind int

const (
	runOther runKind = iota
	runWord
	runCJK
)

// nextRun returns the length of the run at the start of s and its kind. A joiner belongs to a run of word runes only
// between two of them.
func nextRun(s string) (n int, kind runKind) {
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		k := kindOf(r)
		switch {
		case n == 0:
			kind = k
		case kind == runWord && k == runOther && isJoiner(r):
			next, _ := utf8.DecodeRuneInString(s[n+size:])
			if kindOf(next) != runWord {
				return n, kind
			}
		case k != kind:
			return n, kind
		}
		n += size
	}
	return n, kind
}

func kindOf(r rune) runKind {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return runWord
		}
		return runOther
	case r == utf8.RuneError:
		return runOther
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー':
		return runCJK
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return runWord
	}
	return runOther
}

// isJoiner reports whether r may stand inside an identifier or a word.
func isJoiner(r rune) bool {
	switch r {
	case '.', '_', '-', '/', ':', '\\', '@', '#', '+', '\'', '’':
		return true
	}
	return false
}

// tokens collects the result.
type tokens struct{ out []string }

func (t *tokens) add(token string) {
	if token != "" {
		t.out = append(t.out, token)
	}
}

// pairs adds each rune of a CJK run and each pair of neighbours.
func (t *tokens) pairs(run string) {
	last := ""
	for i, r := range run {
		this := run[i : i+utf8.RuneLen(r)]
		t.add(this)
		if last != "" {
			t.add(run[i-len(last) : i+len(this)])
		}
		last = this
	}
}

// identifier adds a run of word runes: a plain word, or a whole and its parts.
func (t *tokens) identifier(run string) {
	parts := split(run)
	if len(parts) > 1 && len(run) <= maxWhole && keepWhole(run) {
		t.add(strings.ToLower(run))
	}
	for _, p := range parts {
		t.word(strings.ToLower(p))
	}
}

// keepWhole is false for words that are only joined by hyphens, apostrophes or one slash ("well-known", "and/or"): prose.
func keepWhole(run string) bool {
	slashes := 0
	for i, r := range run {
		switch {
		case r == '/':
			slashes++
		case r == '-' || r == '\'' || r == '’':
		case unicode.IsLower(r) || unicode.IsMark(r) || i == 0 && unicode.IsLetter(r):
		default:
			return true
		}
	}
	return slashes > 1
}

// split cuts a run at joiners (but not at apostrophes), at changes of case and between letters and digits:
// "HTTPServer2" is HTTP, Server, 2.
func split(run string) []string {
	var parts []string
	start, prev := 0, rune(0)
	for i, r := range run {
		next := rune(0)
		if i+utf8.RuneLen(r) < len(run) {
			next, _ = utf8.DecodeRuneInString(run[i+utf8.RuneLen(r):])
		}
		switch {
		case isJoiner(r) && r != '\'' && r != '’':
			parts = appendPart(parts, run[start:i])
			start = i + utf8.RuneLen(r)
		case i > start && startsPart(prev, r, next):
			parts = appendPart(parts, run[start:i])
			start = i
		}
		prev = r
	}
	return appendPart(parts, run[start:])
}

func appendPart(parts []string, part string) []string {
	if part == "" {
		return parts
	}
	return append(parts, part)
}

// startsPart reports whether a part begins at r: lower to upper, the last upper before a lower, letter to digit and back.
func startsPart(prev, r, next rune) bool {
	if unicode.IsMark(r) || prev == '\'' || prev == '’' {
		return false
	}
	switch {
	case unicode.IsUpper(r):
		return !unicode.IsUpper(prev) || unicode.IsLower(next)
	case unicode.IsDigit(r):
		return !unicode.IsDigit(prev)
	}
	return unicode.IsDigit(prev)
}

// word adds one lower-case part: stop words are dropped, the rest is stemmed.
func (t *tokens) word(w string) {
	w = strings.ReplaceAll(w, "’", "'")
	if english.IsStopWord(w) {
		return
	}
	if base, _, ok := strings.Cut(w, "'"); ok && (english.IsStopWord(base) || strings.HasSuffix(w, "n't")) {
		return // "it's", "you'll", "couldn't"
	}
	if len(w) > maxWord {
		n := maxWord
		for !utf8.RuneStart(w[n]) {
			n--
		}
		w = w[:n]
	}
	t.add(strings.ReplaceAll(english.Stem(w, true), "'", ""))
}
