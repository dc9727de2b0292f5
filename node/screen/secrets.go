package screen

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

func secret(name, needs, pattern string) rule {
	return rule{name: name, kind: Secret, action: Redact, re: regexp.MustCompile(pattern), needs: strings.Split(needs, "|")}
}

// secretWords are what a text names a secret.
var secretWords = []string{"pass", "pwd", "secret", "key", "token", "credential", "密码", "口令", "密钥", "令牌", "秘钥"}

// secretRules are the shapes in which services give out keys, in order of trust.
var secretRules = []rule{
	secret("private_key", "private key", `-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----|\z)`),
	secret("aws_key", "akia|asia|abia|acca", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`),
	secret("github_token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", `\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})\b`),
	secret("gitlab_token", "glpat-|glptt-|gldt-|glrt-|glcbt-", `\bgl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,}`),
	secret("sk_key", "sk-", `\bsk-(?:[a-z]{2,10}-)*[A-Za-z0-9_-]{16,}`),
	secret("slack_token", "xox|hooks.slack", `\bxox[abeoprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}`),
	secret("google_key", "aiza|ya29.", `\bAIza[0-9A-Za-z_-]{35}|\bya29\.[0-9A-Za-z_-]{20,}`),
	secret("stripe_key", "k_live_|k_test_|whsec_", `\b[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9]{20,}`),
	secret("hub_token", "hf|npm|pypi|dckr|dop_|shpat|sq0atp|sg|glsa|lin_api|rcp|ck", `\b(?:hf|npm|pypi|dckr_pat|dop_v1|shpat|sq0atp|SG|glsa|lin_api|rcp|ck)[_.-][A-Za-z0-9_.-]{24,}`),
	secret("jwt", "eyj", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`),
	{name: "bearer_token", needs: []string{"bearer", "basic", "token"}, kind: Secret, action: Redact, group: 1,
		re: regexp.MustCompile(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{16,})`), check: checkText(mixed)},
	{name: "url_password", needs: []string{"://"}, kind: Secret, action: Redact, group: 1,
		re: regexp.MustCompile(`\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@<>"']{0,64}:([^\s@/<>"']{1,128})@`), check: checkText(literalValue)},
	{name: "connection_string", needs: []string{"key=", "pwd=", "password="}, kind: Secret, action: Redact, group: 1,
		re: regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey|Pwd|Password)=([^;\s"'<>]{6,});`), check: checkText(literalValue)},
	{name: "assigned_secret", needs: secretWords, kind: Secret, action: Redact, group: 1, check: checkText(secretValue),
		re: regexp.MustCompile(`(?i)(?:\b|_)(?:pass(?:word|wd|phrase|code)?|pwd|secret(?:[_-]?key)?|api[_-]?key|access[_-]?key|(?:access|auth|api|refresh|id|session|bearer)[_-]?token|client[_-]?secret|private[_-]?key|credentials?)["']?\s*(?:=>|[:=]|\bis\b)\s*["']?([^\s"',;)}\]]{6,200})`)},
	{name: "assigned_secret", needs: secretWords, kind: Secret, action: Redact, group: 1, check: checkText(secretValue),
		re: regexp.MustCompile(`(?:密码|口令|密钥|令牌|秘钥)\s*(?:是|为|[:=])\s*["']?([!-~]{6,200})`)},
	{name: "random_text", whole: true, kind: Secret, action: Redact, re: regexp.MustCompile(`[A-Za-z0-9+/_=-]{32,}`), check: isRandom},
}

// literalValue reports a value that is given, not named: no placeholder, variable or mask.
func literalValue(s string) bool {
	if s == "" || strings.ContainsAny(s[:1], "<${%*") || strings.HasPrefix(s, "[redacted") {
		return false
	}
	return strings.Trim(s, "*xX.•") != ""
}

// secretValue reports what is said to be a password or key and looks like one: a word that a sentence would go on with, or
// a call, is none.
func secretValue(s string) bool {
	s = strings.TrimRight(s, ".!?")
	if len(s) < 6 || !literalValue(s) || strings.ContainsAny(s, "()<>") {
		return false
	}
	return mixed(s)
}

// mixed reports letters together with digits or with punctuation that words do not have.
func mixed(s string) bool {
	letters, others := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r) || strings.ContainsRune("!@#$%^&*+=~?", r):
			others++
		}
	}
	return letters > 0 && others > 0
}

// isRandom reports a word of the base64 alphabet that nobody made up: both cases and digits well mixed, much entropy, and
// not a path. Hexadecimal digests are no secrets.
func isRandom(text string, start, end int) bool {
	if start > 0 && (isWordByte(text[start-1]) || strings.ContainsRune("./:<@%$", rune(text[start-1]))) {
		return false
	}
	s := strings.TrimRight(text[start:end], "=")
	var upper, lower, digit, other int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= '0' && c <= '9':
			digit++
		default:
			other++
		}
	}
	n := len(s)
	if upper*8 < n || lower*8 < n || digit < 3 || other*8 > n {
		return false
	}
	return entropy(s) >= 4.2
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= 0x80
}

// entropy is Shannon's, in bits a character, of the characters of s.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	h := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
