package screen

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// folded is a text as a reader's model takes it: without hidden characters, full-width forms as ASCII, every kind of space
// and dash as one. For each of its bytes it knows the character of the text from which the byte comes.
type folded struct {
	text   string
	starts []int
	ends   []int
}

// fold makes the folded form. A hidden character inside a phrase or a number cannot keep a rule from seeing it.
func fold(s string) folded {
	out := make([]byte, 0, len(s))
	f := folded{starts: make([]int, 0, len(s)), ends: make([]int, 0, len(s))}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isHidden(r) {
			out = utf8.AppendRune(out, foldRune(r))
			for len(f.starts) < len(out) {
				f.starts, f.ends = append(f.starts, i), append(f.ends, i+size)
			}
		}
		i += size
	}
	f.text = string(out)
	return f
}

func foldRune(r rune) rune {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return r
	case unicode.IsSpace(r):
		return ' '
	case r >= '\u2010' && r <= '\u2015' || r == '\u2212':
		return '-'
	case r == '\u2018' || r == '\u2019':
		return '\''
	case r == '\u201c' || r == '\u201d':
		return '"'
	}
	if narrow := width.LookupRune(r).Narrow(); narrow != 0 && narrow < unicode.MaxASCII {
		return narrow
	}
	return r
}

// original turns a span of the folded text, which is not empty, into one of the text. Hidden characters at its edges stay
// outside.
func (f folded) original(start, end int) (int, int) { return f.starts[start], f.ends[end-1] }
