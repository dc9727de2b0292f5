package federation

import (
	"strings"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// unitKind says what a piece of a sentence does.
type unitKind uint8

const (
	unitWord  unitKind = iota // a stem, an identifier or a pair of Han characters
	unitNot                   // negates: not, never, without; 不, 未, 禁止
	unitWeak                  // sets aside without a negation: instead of, otherwise, fails; 否则, 失败
	unitLink                  // orders or limits: before, then, unless; 之前, 再, 除非
	unitComma                 // ends a clause
)

// sentenceUnit is a piece of a sentence. text of a link is its canonical English form.
type sentenceUnit struct {
	kind unitKind
	text string
}

// sentences cuts tokens into sentences of units. An arrow stays within its sentence as the link "then".
func sentences(tokens []token) [][]sentenceUnit {
	var list [][]sentenceUnit
	var now []sentenceUnit
	for i := 0; i < len(tokens); {
		t := tokens[i]
		n := 1
		switch {
		case t.kind == tokenHan:
			now = append(now, hanPieces(beforeNumber(t.text, tokens[i+1:]))...)
		case t.kind == tokenWord:
			var piece sentenceUnit
			if piece, n = englishPiece(tokens[i:]); piece.text != "" {
				now = append(now, piece)
			}
		case t.text == ">":
			now = append(now, sentenceUnit{unitLink, "then"})
		case t.text == ",":
			now = append(now, sentenceUnit{unitComma, ","})
		default:
			list, now = append(list, now), nil
		}
		i += n
	}
	return append(list, now)
}

// englishPiece reads the longest known phrase at the start of tokens, or one word. A stop word gives an empty
// piece.
func englishPiece(tokens []token) (sentenceUnit, int) {
	for n := min(4, len(tokens)); n > 0; n-- {
		words := make([]string, n)
		for i, t := range tokens[:n] {
			if t.kind != tokenWord {
				words = nil
				break
			}
			words[i] = strings.ReplaceAll(t.lower, "'", "")
		}
		if words == nil {
			continue
		}
		if piece, ok := englishPhrases[strings.Join(words, " ")]; ok {
			return piece, n
		}
	}
	return sentenceUnit{unitWord, stem(tokens[0].lower)}, 1
}

// stem returns the comparable form of an English word, empty for a stop word. Identifiers stay whole.
func stem(word string) string {
	if stopWords[word] {
		return ""
	}
	if isID(word) {
		return strings.TrimSuffix(word, "()")
	}
	return english.Stem(strings.ReplaceAll(word, "'", ""), false)
}

// hanPieces cuts a Han run at its known phrases; what lies between becomes pairs of characters.
func hanPieces(run string) []sentenceUnit {
	var list []sentenceUnit
	var plain []rune
	flush := func() {
		for _, pair := range hanPairs(string(plain)) {
			list = append(list, sentenceUnit{unitWord, pair})
		}
		plain = plain[:0]
	}
	for run != "" {
		phrase, ok := hanPhraseAt(run)
		if !ok {
			r, size := utf8.DecodeRuneInString(run)
			plain = append(plain, r)
			run = run[size:]
			continue
		}
		flush()
		if phrase.unit.text != "" {
			list = append(list, phrase.unit)
		}
		run = run[len(phrase.text):]
	}
	flush()
	return list
}

// beforeNumber drops the 前 and 后 of an expression of time: 起飞前7天 orders nothing.
func beforeNumber(run string, rest []token) string {
	if len(rest) > 0 && rest[0].kind == tokenWord && rest[0].text[0] >= '0' && rest[0].text[0] <= '9' {
		return strings.TrimRight(run, "前后")
	}
	return run
}

func hanPhraseAt(run string) (hanPhrase, bool) {
	for _, phrase := range hanPhrases {
		if strings.HasPrefix(run, phrase.text) {
			return phrase, true
		}
	}
	return hanPhrase{}, false
}

// hanPairs returns the pairs of neighbouring characters, or the only character.
func hanPairs(run string) []string {
	runes := []rune(run)
	if len(runes) == 1 {
		return []string{run}
	}
	var pairs []string
	for i := 0; i+1 < len(runes); i++ {
		pairs = append(pairs, string(runes[i:i+2]))
	}
	return pairs
}
