package screen

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// luhn checks the last digit of a card number (ISO/IEC 7812-1, annex B).
func luhn(number string) bool {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// cardGroups are the ways in which card numbers are written: in one piece, in fours, or 4-6-5 and 4-6-4.
var cardGroups = regexp.MustCompile(`^(?:\d+|\d{4}(?:[ -]\d{4}){2,3}(?:[ -]\d{1,3})?|\d{4}[ -]\d{6}[ -]\d{4,5})$`)

// isCard reports a payment card number: 12 to 19 digits, a first digit that issuers use, the check digit, and not the same
// digit throughout.
func isCard(s string) bool {
	n := digits(s)
	if !cardGroups.MatchString(s) || len(n) < 12 || len(n) > 19 || strings.Count(n, n[:1]) == len(n) {
		return false
	}
	switch {
	case n[0] >= '2' && n[0] <= '6':
	case strings.HasPrefix(n, "1800") && len(n) == 15:
	default:
		return false
	}
	return luhn(n)
}

// ibanLengths are the lengths of account numbers by country (ISO 13616 registry).
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28,
	"CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18,
	"GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32,
	"LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24,
	"PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28,
	"TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}

// ibanLength returns how many bytes at the start of s, spaces included, are an account number; 0 for none. What follows in
// s may belong to the next word.
func ibanLength(s string) int {
	if len(s) < 2 {
		return 0
	}
	want := ibanLengths[strings.ToUpper(s[:2])]
	var compact []byte
	for i := range len(s) {
		if c := s[i]; c != ' ' && c != '-' {
			compact = append(compact, upperASCII(c))
		}
		if want > 0 && len(compact) == want {
			if mod97(string(compact[4:])+string(compact[:4])) == 1 {
				return i + 1
			}
			return 0
		}
	}
	return 0
}

func upperASCII(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

// mod97 is the remainder of a number in which letters stand for 10..35 (ISO 7064).
func mod97(s string) int {
	rest := 0
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}

// isChineseID checks the resident identity number: a date of birth and the check character (GB 11643, ISO 7064 MOD 11-2).
func isChineseID(s string) bool {
	if len(s) != 18 || s[0] == '0' {
		return false
	}
	born, err := time.Parse("20060102", s[6:14])
	if err != nil || born.Year() < 1880 || born.Year() > 2099 {
		return false
	}
	sum := 0
	for i, weight := range [17]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += int(s[i]-'0') * weight
	}
	return "10X98765432"[sum%11] == upperASCII(s[17])
}

// isSpanishID checks the letter of a DNI or NIE.
func isSpanishID(s string) bool {
	s = strings.ToUpper(s)
	if len(s) != 9 {
		return false
	}
	n, err := strconv.Atoi(strings.NewReplacer("X", "0", "Y", "1", "Z", "2").Replace(s[:1]) + s[1:8])
	return err == nil && "TRWAGMYFPDXBNJZSQVHLCKE"[n%23] == s[8]
}

// isFrenchID checks the key of a social security number of 15 digits.
func isFrenchID(s string) bool {
	n := digits(s)
	if len(n) != 15 || n[0] != '1' && n[0] != '2' {
		return false
	}
	month, _ := strconv.Atoi(n[3:5])
	body, err := strconv.ParseInt(n[:13], 10, 64)
	key, keyErr := strconv.ParseInt(n[13:], 10, 64)
	return err == nil && keyErr == nil && month >= 1 && month <= 12 && 97-body%97 == key
}

// isSocialSecurity reports a US number outside the ranges that are never given out.
func isSocialSecurity(s string) bool {
	n := digits(s)
	return len(n) == 9 && n[:3] != "000" && n[:3] != "666" && n[3:5] != "00" && n[5:] != "0000"
}
