package federation

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/text/unicode/norm"
)

// textHashDomain separates [TextHash] from other uses of the hash and carries its version.
const textHashDomain = "cairn.text.v1"

// maxPasses bounds the passes of [NormalizeText]; texts of people and machines need one or two.
const maxPasses = 8

// NormalizeText returns the form in which texts are compared: NFKC, lower case, curly quotes, dashes and
// ideographic stops as their plain forms, invisible characters dropped, runs of white space as one space, none at
// the ends, no closing punctuation. Invalid UTF-8 becomes U+FFFD. Applying it twice changes nothing.
func NormalizeText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for range maxPasses {
		next := normalizeOnce(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// normalizeOnce may leave work for another pass: dropping a character can bring a base letter and a combining
// mark together.
func normalizeOnce(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range norm.NFKC.String(s) {
		r = plain(unicode.ToLower(r))
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return norm.NFKC.String(strings.TrimRight(b.String(), ".!?;, "))
}

// plain maps punctuation that writers use alike to one form.
func plain(r rune) rune {
	switch r {
	case '\u2018', '\u2019', '\u201B', '\u2032', '\u00B4':
		return '\''
	case '`', '\u201C', '\u201D', '\u201F', '\u2033', '\u300C', '\u300D', '\u300E', '\u300F':
		return '"'
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212':
		return '-'
	case '\u3002':
		return '.'
	case '\u3001':
		return ','
	}
	return r
}

// TextHash is the SHA-256 of the normalised scenario, content and task type, and of whatever else must be the
// same for an exact match (extra, in the order given). Each part is preceded by its length, so that no two
// different lists give the same bytes.
func TextHash(scenario, content, taskType string, extra ...string) [32]byte {
	h := sha256.New()
	write := func(s string) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	write(textHashDomain)
	for _, part := range append([]string{scenario, content, taskType}, extra...) {
		write(NormalizeText(part))
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// TokenSet returns the hashes of the distinct tokens of a text in ascending order: words and numbers as
// normalised, and for Han the pairs of neighbouring characters (a single one where it stands alone).
func TokenSet(text string) []uint64 {
	var set []uint64
	for _, token := range words(NormalizeText(text)) {
		set = append(set, xxhash.Sum64String(token))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// words cuts normalised text into letter and digit runs and Han pairs.
func words(text string) []string {
	var list []string
	var run []rune
	han := false
	flush := func() {
		switch {
		case len(run) == 0:
		case !han || len(run) == 1:
			list = append(list, string(run))
		default:
			for i := 0; i+1 < len(run); i++ {
				list = append(list, string(run[i:i+2]))
			}
		}
		run = run[:0]
	}
	for _, r := range text {
		isHan := unicode.Is(unicode.Han, r)
		if !isHan && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && r != '_' {
			flush()
			continue
		}
		if isHan != han {
			flush()
			han = isHan
		}
		run = append(run, r)
	}
	flush()
	return list
}

// Jaccard is |a and b| / |a or b| of two sets from [TokenSet]. Two empty sets have nothing in common: 0.
func Jaccard(a, b []uint64) Micro {
	var both int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			both++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	either := len(a) + len(b) - both
	if either == 0 {
		return 0
	}
	return store(float64(both) / float64(either))
}
