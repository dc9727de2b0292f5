package screen

import (
	"regexp"
	"strings"
)

// phoneShapes are ways to write a number that hardly anything else is written in: with a country code, an area code in
// brackets, three groups of the North American plan, with an extension, or a Chinese mobile number.
const phoneShapes = `(?:\+|\b00)\d{1,3}[ .-]?(?:\(0?\)[ .-]?)?\(?\d{1,4}\)?(?:[ .-]?\d{2,4}){1,5}(?:x\d{1,6})?` +
	`|\(\d{2,4}\) ?\d{3,4}[ .-]\d{3,4}(?:[ .-]?\d{2,4})?(?:x\d{1,6})?` +
	`|\b\d{3}[.-]\d{3}[.-]\d{4}(?:x\d{1,6})?` +
	`|\b0\d{1,4}(?:[ .-]\d{2,4}){2,4}\b` +
	`|\b1[3-9]\d(?:[ -]?\d{4}){2}\b`

// isPhone wants 8 to 15 digits (E.164) that stand alone and are no date.
func isPhone(text string, start, end int) bool {
	s := text[start:end]
	number, _, _ := strings.Cut(s, "x")
	n := len(digits(number))
	return n >= 8 && n <= 15 && standsAlone(text, start, end) && !inTable(text, start, end) && !dateLike.MatchString(s) && varied(number)
}

// inTable reports a number with another one beside it, as in a dump or a listing.
func inTable(text string, start, end int) bool {
	return numberBefore.MatchString(text[max(0, start-8):start]) || numberAfter.MatchString(text[end:min(len(text), end+8)])
}

var (
	numberBefore = regexp.MustCompile(`\d[ \t]+$`)
	numberAfter  = regexp.MustCompile(`^[ \t]+\d`)
)

// varied reports at least three different digits.
func varied(number string) bool {
	seen := make(map[rune]bool)
	for _, d := range digits(number) {
		seen[d] = true
	}
	return len(seen) >= 3
}

var dateLike = regexp.MustCompile(`^\(?(?:(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}\b|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}$)`)

func standsAlone(text string, start, end int) bool {
	if start > 0 && (isWordASCII(text[start-1]) || strings.IndexByte("./-=#$<", text[start-1]) >= 0 && !(start > 1 && text[start-1] == '.' && text[start-2] == ' ')) {
		return false
	}
	return end == len(text) || !isWordASCII(text[end]) && !(strings.IndexByte("./-", text[end]) >= 0 && end+1 < len(text) && text[end+1] >= '0' && text[end+1] <= '9')
}

var (
	phoneBefore = regexp.MustCompile(`(?i)(?:\bphone|\btel(?:ephone)?\b|\bmobile|\bcell(?:phone)?\b|\bfax|\bdesk|\boffice|\bcall(?:ed|ing)? (?:me|us|him|her|them|at|on)|\breach (?:me|us|him|her)|\bdial(?:ed)?|\btext (?:me|us)|\bsms|\bwhatsapp|\bmessages? (?:to|on|at)|\bregistered|\bcontact(?: number)?|电话|手机|联系方式|致电|拨打)[^\d\n]{0,24}\n?\W{0,4}$`)
	phoneAfter  = regexp.MustCompile(`(?i)^\W{0,3}(?:mobile|fax|office|phone|cell|home|desk|tel|电话|手机)`)
)

// isSpokenPhone is for numbers without a telling shape: 7 to 15 digits beside a word for telephones.
func isSpokenPhone(text string, start, end int) bool {
	n := len(digits(text[start:end]))
	if n < 7 || n > 15 || !varied(text[start:end]) || !standsAlone(text, start, end) || dateLike.MatchString(text[start:end]) {
		return false
	}
	return phoneBefore.MatchString(text[max(0, start-48):start]) || phoneAfter.MatchString(text[end:min(len(text), end+16)])
}
