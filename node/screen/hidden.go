package screen

import (
	"strings"
	"unicode"
)

// isHidden reports characters that are not seen: zero-width ones, soft hyphens, directional controls, tags, fillers and
// control characters that are no white space.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return false
	case r == '\u00ad' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0' || r == '\u180e':
		return true
	case r >= 0xe0100 && r <= 0xe01ef:
		return true
	case isVariation(r):
		return false // chooses the look of the character before it
	}
	return unicode.In(r, unicode.Cc, unicode.Cf)
}

func isVariation(r rune) bool { return r >= '\ufe00' && r <= '\ufe0f' }

// changesReading reports hidden characters that make a text read otherwise than it is stored: directional overrides,
// embeddings and isolates, and tags, which carry invisible ASCII.
func changesReading(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r >= 0xe0000 && r <= 0xe007f
}

// hiddenCharacters finds hidden characters. Joiners that a script or an emoji needs are none: they stand after an emoji or
// after a letter that is neither Latin, Greek, Cyrillic nor Han.
func hiddenCharacters(s string) []Finding {
	var found []Finding
	previous := rune(0)
	for i, r := range s {
		if isHidden(r) && !needed(r, previous) {
			found = addHidden(found, i, i+len(string(r)), r)
			continue
		}
		if !isVariation(r) {
			previous = r
		}
	}
	return found
}

func addHidden(found []Finding, start, end int, r rune) []Finding {
	f := Finding{Kind: Hidden, Rule: "zero_width", Start: start, End: end, Action: Redact}
	if changesReading(r) {
		f.Rule, f.Action = "bidi", Quarantine
	}
	if n := len(found); n > 0 && found[n-1].End == start && found[n-1].Rule == f.Rule {
		found[n-1].End = end
		return found
	}
	return append(found, f)
}

func needed(r, previous rune) bool {
	switch r {
	case '\u200c', '\u200d': // joiners
		return unicode.Is(unicode.So, previous) || unicode.Is(unicode.Sk, previous) ||
			unicode.IsLetter(previous) && !unicode.In(previous, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han) ||
			unicode.IsMark(previous)
	case '\u200e', '\u200f', '\u061c': // marks beside right-to-left text
		return unicode.In(previous, unicode.Arabic, unicode.Hebrew)
	}
	return false
}

// confusable are letters of other scripts that look like Latin ones.
const confusable = "аеосрхуіјѕԁһӏвкмнтАВЕКМНОРСТХУІЈЅ" + "οαρντυικχεΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"

// homoglyphs finds words that mix Latin letters with letters of another script that look the same. A single Greek letter
// beside few Latin ones is a formula.
func homoglyphs(s string) []Finding {
	var found []Finding
	start, latin, fake, other := -1, 0, 0, 0
	flush := func(end int) {
		if start >= 0 && latin >= 2 && fake >= 1 && other == 0 && latin+fake >= 4 {
			found = append(found, Finding{Kind: Hidden, Rule: "homoglyph", Start: start, End: end, Action: Quarantine})
		}
		start, latin, fake, other = -1, 0, 0, 0
	}
	for i, r := range s {
		if !unicode.IsLetter(r) {
			if !unicode.IsMark(r) && !isHidden(r) {
				flush(i)
			}
			continue
		}
		if start < 0 {
			start = i
		}
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case strings.ContainsRune(confusable, r):
			fake++
		default:
			other++
		}
	}
	flush(len(s))
	return found
}
