package embed

import "unicode/utf8"

// hanShare is the share of Han and kana runes from which a text goes to the multilingual encoder.
const hanShare = .15

// Choose returns the id of the encoder that embeds text. It counts Han and kana runes; an invalid byte counts as one rune.
func Choose(text string) string {
	han := 0
	for _, r := range text {
		if isHanOrKana(r) {
			han++
		}
	}
	if han > 0 && float64(han)/float64(utf8.RuneCountInString(text)) >= hanShare {
		return E5
	}
	return MiniLM
}

func isHanOrKana(r rune) bool {
	return r >= 0x3040 && (r <= 0x30FF || r >= 0x3400 && r <= 0x4DBF || r >= 0x4E00 && r <= 0x9FFF || r >= 0xF900 && r <= 0xFAFF)
}
