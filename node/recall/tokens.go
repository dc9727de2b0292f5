package recall

import "unicode"

// EstimateTokens estimates how many tokens a model makes of s, from its characters alone: one for each Han, kana or
// Hangul character, one for each four other letters or digits of a word (rounded up), one for each punctuation mark.
// It is an estimate for budgets: real tokenizers differ by a third either way.
func EstimateTokens(s string) int {
	total, word := 0, 0
	flush := func() {
		total += (word + 3) / 4
		word = 0
	}
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			flush()
			total++
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			word++
		case unicode.IsSpace(r):
			flush()
		default:
			flush()
			total++
		}
	}
	flush()
	return total
}
