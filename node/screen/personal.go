package screen

import (
	"net/netip"
	"regexp"
	"strings"
)

func personal(name, pattern string, check func(string, int, int) bool) rule {
	return rule{name: name, kind: Personal, action: Redact, re: regexp.MustCompile(pattern), check: check, needs: anyDigit}
}

// anyDigit is what every rule about numbers needs.
var anyDigit = strings.Split("0123456789", "")

// personalRules are data about a person or a machine. Those with a check digit come before those that go by shape.
var personalRules = []rule{
	{name: "email", needs: []string{"@"}, whole: true, kind: Personal, action: Redact, check: isEmail,
		re: regexp.MustCompile(`[\pL\pN._%+'-]{1,64}@(?:[\pL\pN-]{1,63}\.)+[\pL]{2,24}`)},
	{name: "iban", needs: anyDigit, kind: Personal, action: Redact, re: regexp.MustCompile(`[A-Za-z]{2}\d{2}[ -]?(?:[A-Za-z0-9][ -]?){10,34}`), check: notInside, trim: trimIBAN},
	personal("chinese_id", `\d{17}[\dXx]`, bounded(isChineseID)),
	personal("french_id", `[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}`, bounded(isFrenchID)),
	personal("card", `\d(?:[ -]?\d){11,18}`, bounded(isCard)),
	personal("us_ssn", `\d{3}-\d{2}-\d{4}`, bounded(isSocialSecurity)),
	personal("uk_nino", `[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]`, bounded(always)),
	personal("spanish_id", `[XYZxyz\d]\d{7}-?[A-Za-z]`, bounded(func(s string) bool { return isSpanishID(strings.ReplaceAll(s, "-", "")) })),
	personal("italian_id", `[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]`, bounded(always)),
	personal("ip", `(?:\d{1,3}\.){3}\d{1,3}`, isIPv4),
	{name: "ip", needs: []string{":"}, whole: true, kind: Personal, action: Redact, re: regexp.MustCompile(`[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*`), check: isIPv6},
	personal("phone", phoneShapes, isPhone),
	personal("phone", `\+?\(?\d(?:[\d ().x/-]{5,20})\d`, isSpokenPhone),
}

func always(string) bool { return true }

// bounded wants that a number stands alone, not inside a longer number, word, path or decimal.
func bounded(check func(string) bool) func(string, int, int) bool {
	return func(text string, start, end int) bool {
		return notInside(text, start, end) && check(text[start:end])
	}
}

func notInside(text string, start, end int) bool {
	if start > 0 && (isWordASCII(text[start-1]) || strings.IndexByte("./-\\", text[start-1]) >= 0 && start > 1 && isWordASCII(text[start-2])) {
		return false
	}
	return end == len(text) || !isWordASCII(text[end]) && !(strings.IndexByte("./-", text[end]) >= 0 && end+1 < len(text) && isWordASCII(text[end+1]))
}

func isWordASCII(c byte) bool { return isWordByte(c) && c < 0x80 }

func isEmail(text string, start, end int) bool {
	local, _, _ := strings.Cut(text[start:end], "@")
	return strings.ToLower(local) != "git" && strings.Trim(local, ".'-") != ""
}

func trimIBAN(text string, start, end int) (int, int) {
	return start, start + ibanLength(text[start:end])
}

// isIPv4 reports an address of a machine; addresses of every machine, and versions, are none.
func isIPv4(text string, start, end int) bool {
	addr, err := netip.ParseAddr(text[start:end])
	if err != nil || addr.IsLoopback() || addr.IsUnspecified() || addr.IsMulticast() || strings.HasPrefix(text[start:end], "255.255") {
		return false
	}
	if start > 0 && (isWordASCII(text[start-1]) || text[start-1] == '.') {
		return false
	}
	if end < len(text) && (isWordASCII(text[end]) || text[end] == '.' && end+1 < len(text) && isWordASCII(text[end+1])) {
		return false
	}
	return !versionBefore.MatchString(text[max(0, start-24):start])
}

var versionBefore = regexp.MustCompile(`(?i)(?:\bv|version|release|build|==|>=|<=|~=|section|§)\W{0,3}$`)

func isIPv6(text string, start, end int) bool {
	s := text[start:end]
	if start > 0 && isWordASCII(text[start-1]) || end < len(text) && isWordASCII(text[end]) {
		return false
	}
	addr, err := netip.ParseAddr(strings.TrimRight(s, "."))
	return err == nil && addr.Is6() && !addr.IsLoopback() && !addr.IsUnspecified() && strings.Count(s, ":") >= 3 && strings.ContainsAny(s, "0123456789")
}
