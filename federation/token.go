package federation

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// tokenKind tells apart what the vetoes read in different ways.
type tokenKind uint8

const (
	tokenWord tokenKind = iota // anything written without spaces that is not Han
	tokenHan                   // a run of Han characters
	tokenMark                  // one of . ; : ! ? , and > for an arrow
)

// token is a piece of text as the vetoes read it.
type token struct {
	kind  tokenKind
	text  string // as written
	lower string
	first bool // starts a sentence, so that a capital says nothing
	call  bool // an opening parenthesis follows, as in book(index=0)
}

// readable returns text in the form that is cut into tokens: NFKC, with case, without invisible characters, and
// with one form of quotes and dashes.
func readable(s string) string {
	s = norm.NFKC.String(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\u3002':
			return '\n' // both end a sentence
		case r == '\u300A' || r == '\u300B':
			return '"'
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r):
			return -1
		}
		return plain(r)
	}, s)
}

// tokenize cuts readable text.
func tokenize(text string) []token {
	t := tokenizer{first: true}
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case unicode.Is(unicode.Han, r):
			t.add(r, tokenHan)
		case r == '>' || r == '→':
			t.arrow()
		case r == ',' && thousands(runes, i):
		case r == '\n' || r == ';' || r == '!' || r == '?' || r == ',':
			t.mark(r)
		case unicode.IsSpace(r) || strings.ContainsRune(`()[]{}<"=|*^`, r):
			t.flush()
			if r == '(' && i > 0 && isLetter(runes[i-1]) && !plural(runes[i:]) {
				t.tokens[len(t.tokens)-1].call = true
			}
		default:
			t.add(r, tokenWord)
		}
	}
	t.flush()
	return t.tokens
}

// plural reports whether runes start with "(s)".
func plural(runes []rune) bool { return len(runes) > 2 && runes[1] == 's' && runes[2] == ')' }

// thousands reports whether the comma at i stands within a number such as 1,000.
func thousands(runes []rune, i int) bool {
	digit := func(at int) bool { return at >= 0 && at < len(runes) && runes[at] >= '0' && runes[at] <= '9' }
	return digit(i-1) && digit(i+1) && digit(i+2) && digit(i+3) && !digit(i+4)
}

type tokenizer struct {
	tokens []token
	run    []rune
	kind   tokenKind
	first  bool
}

func (t *tokenizer) add(r rune, kind tokenKind) {
	if kind != t.kind {
		t.flush()
		t.kind = kind
	}
	t.run = append(t.run, r)
}

func (t *tokenizer) mark(r rune) {
	t.flush()
	if r == '\n' {
		r = '.'
	}
	t.tokens = append(t.tokens, token{kind: tokenMark, text: string(r), lower: string(r)})
	t.first = r != ','
}

// arrow takes the dash of "->" back and marks an arrow.
func (t *tokenizer) arrow() {
	t.run = []rune(strings.TrimRight(string(t.run), "-"))
	t.mark('>')
}

// flush ends a run. Punctuation at the ends of a word is no part of it; what ends a sentence or clause becomes
// a mark.
func (t *tokenizer) flush() {
	text := string(t.run)
	t.run = t.run[:0]
	if t.kind == tokenHan {
		t.push(tokenHan, text)
		return
	}
	text = strings.TrimLeft(text, ":'&")
	word := strings.TrimRight(text, ".:'&-/\\")
	t.push(tokenWord, strings.TrimSuffix(word, "'s"))
	if rest := text[len(word):]; strings.ContainsAny(rest, ".:") {
		end := '.'
		if strings.HasPrefix(strings.TrimLeft(rest, "'"), ":") {
			end = ':'
		}
		t.tokens = append(t.tokens, token{kind: tokenMark, text: string(end), lower: string(end)})
		t.first = true
	}
}

func (t *tokenizer) push(kind tokenKind, text string) {
	if text == "" {
		return
	}
	t.tokens = append(t.tokens, token{kind: kind, text: text, lower: strings.ToLower(text), first: t.first})
	t.first = false
}
