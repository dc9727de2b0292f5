package embed

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWordRunes is the longest word WordPiece looks at; longer ones become one unknown piece.
const maxWordRunes = 100

// wordPiece is the tokenizer of uncased BERT models. It is read-only after newWordPiece and safe for concurrent use.
type wordPiece struct {
	first    map[string]int32 // pieces that begin a word
	inner    map[string]int32 // pieces that continue one, without "##"
	maxBytes int              // longest piece
	bos      int32
	eos      int32
	unk      int32
}

// newWordPiece reads vocab.txt: one piece a line, the line number is the id.
func newWordPiece(vocab string, cfg config) (*wordPiece, error) {
	t := &wordPiece{first: map[string]int32{}, inner: map[string]int32{}, bos: cfg.BOS, eos: cfg.EOS, unk: cfg.UNK}
	lines := strings.Split(strings.TrimSuffix(vocab, "\n"), "\n")
	if len(lines) != cfg.VocabSize {
		return nil, fmt.Errorf("vocabulary has %d pieces, want %d", len(lines), cfg.VocabSize)
	}
	for i, piece := range lines {
		piece = strings.TrimSuffix(piece, "\r")
		if rest, ok := strings.CutPrefix(piece, "##"); ok && rest != "" {
			t.inner[rest] = int32(i)
		}
		t.first[piece] = int32(i)
		t.maxBytes = max(t.maxBytes, len(piece))
	}
	return t, nil
}

// encode returns the ids of text with the special tokens, at most limit of them.
func (t *wordPiece) encode(text string, limit int) []int32 {
	ids := make([]int32, 1, 64)
	ids[0] = t.bos
	t.words(text, func(word string) bool {
		ids = t.pieces(ids, word)
		return len(ids) < limit-1
	})
	if len(ids) > limit-1 {
		ids = ids[:limit-1]
	}
	return append(ids, t.eos)
}

// pieces appends the greedy longest matches of word; a word that cannot be covered is one unknown piece.
func (t *wordPiece) pieces(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > maxWordRunes {
		return append(ids, t.unk)
	}
	start := len(ids)
	table := t.first
	for rest := word; rest != ""; table = t.inner {
		n, id := t.longest(table, rest)
		if n == 0 {
			return append(ids[:start], t.unk)
		}
		ids, rest = append(ids, id), rest[n:]
	}
	return ids
}

func (t *wordPiece) longest(table map[string]int32, s string) (n int, id int32) {
	for n = min(len(s), t.maxBytes); n > 0; n-- {
		if n < len(s) && !utf8.RuneStart(s[n]) {
			continue
		}
		if id, ok := table[s[:n]]; ok {
			return n, id
		}
	}
	return 0, 0
}

// words yields the words of text after cleaning, accent stripping and lower-casing; it stops when yield returns false.
// The steps run on pieces of about 4 KiB cut at white space, so that the head of a long text costs no more than the head.
func (t *wordPiece) words(text string, yield func(string) bool) {
	for text != "" {
		var part string
		part, text = cutAtSpace(text, 4096)
		if !splitWords(normalise(clean(part)), yield) {
			return
		}
	}
}

// cutAtSpace cuts text behind the first ASCII blank at or after n bytes.
func cutAtSpace(text string, n int) (head, tail string) {
	if len(text) <= n {
		return text, ""
	}
	i := strings.IndexAny(text[n:], " \n\t\r")
	if i < 0 {
		return text, ""
	}
	return text[:n+i+1], text[n+i+1:]
}

// clean drops control characters, turns white space into blanks and puts blanks around CJK runes.
func clean(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/4)
	for _, r := range text {
		switch {
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
		case isSpace(r):
			b.WriteByte(' ')
		case isCJK(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// normalise strips accents (NFD without Mn) and lower-cases rune by rune.
func normalise(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(text))
}

// splitWords yields words at white space, each punctuation rune by itself.
func splitWords(text string, yield func(string) bool) bool {
	start := -1
	flush := func(end int) bool {
		if start < 0 {
			return true
		}
		word := text[start:end]
		start = -1
		return yield(word)
	}
	for i, r := range text {
		switch {
		case isSpace(r):
			if !flush(i) {
				return false
			}
		case isPunct(r):
			if !flush(i) || !yield(text[i:i+utf8.RuneLen(r)]) {
				return false
			}
		case start < 0:
			start = i
		}
	}
	return flush(len(text))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isSpace(r rune) bool { return unicode.Is(unicode.White_Space, r) }

func isPunct(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r)
}

func isCJK(r rune) bool {
	if r < 0x3400 {
		return false
	}
	return r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x20000 && r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F ||
		r >= 0x2B920 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
}
