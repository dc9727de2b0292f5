package acquire

import (
	"regexp"
	"strings"
)

// harmless are mentions of errors that say there was none; they are taken out before looking.
var harmless = regexp.MustCompile(`(?i)\b(?:no|0|zero|without(?: any)?) (?:errors?|failures?|exceptions?)\b|["']?(?:error|err|exception|errors)["']?\s*[:=]\s*(?:""|''|null|none|false|0|\[\]|\{\})`)

// loud words make an observation an error wherever they stand in its head.
var loud = regexp.MustCompile(`(?i)^\W*(?:error|err|fatal|exception)\s*[:(\[-]|` +
	`(?:error|exception)s?\s*[:(\[]|\berrors?\s*-|["']error["']\s*:|\berror executing\b|\bsyntax error\b|\btraceback\b|` +
	`\b(?:http|status|code|error)\W{0,3}(?:4\d\d|5\d\d)\b|^(?:http )?(?:4(?:0[0-9]|1[0-9]|2[2-9])|50[1-4]|500 (?:internal|error|server))\b[ :,-]*\pL|\b429\b|too many requests|rate.?limit|` +
	`command not found|permission denied|access denied|no such file|` +
	`错误|失败|无效|未找到|不存在|被拒绝|拒绝访问|超时|异常|不支持|请求过多|未登录`)

// quiet words do so only in a short observation, since prose and file contents use them too.
var quiet = regexp.MustCompile(`(?i)^\W*(?:error|err|fatal)\b|\bfail(?:ed|ure)?\b|\bdenied\b|\bnot found\b|\binvalid\b|\bdoes(?: not|n't) exist\b|\bno such\b|` +
	`\bcannot\b|\bcan't\b|\bcould not\b|\bunable to\b|\bnot allowed\b|\bnot authori[sz]ed\b|\bunauthori[sz]ed\b|\bforbidden\b|` +
	`\bmissing\b|\brequired\b|\bexpired\b|\btimed? ?out\b|\bunknown (?:column|table|option|tool|argument|user)\b|\bunavailable\b|` +
	`\bunexpected\b|\bexception\b|\bmust (?:be|log|sign|call|have|provide)\b|\bnot logged in\b|\bunrecognized\b|\billegal\b`)

// passing errors go away by waiting; the failed call is part of what has to be done.
var passing = regexp.MustCompile(`(?i)\b429\b|\b503\b|too many requests|rate.?limit|\bretry\b|try again|\bbusy\b|temporar|\btimed? ?out\b|slow down|请求过多|稍后|限流|超时`)

const (
	headCharacters  = 300
	shortCharacters = 240
	maxExcerpt      = 160
)

// isError reports whether an observation says that the call failed.
func isError(observation string) bool {
	head := harmless.ReplaceAllString(headOf(observation, headCharacters), " ")
	if loud.MatchString(head) {
		return true
	}
	return len([]rune(observation)) <= shortCharacters && quiet.MatchString(head)
}

func isPassing(observation string) bool {
	return passing.MatchString(headOf(observation, headCharacters))
}

// excerpt is the line of an error observation that says what went wrong, at most maxExcerpt characters.
func excerpt(observation string) string {
	head := headOf(observation, 2000)
	var best string
	for line := range strings.Lines(head) {
		line = collapse(line)
		if line == "" {
			continue
		}
		if best == "" {
			best = line
		}
		clean := harmless.ReplaceAllString(line, " ")
		if (loud.MatchString(clean) || quiet.MatchString(clean)) && !strings.HasPrefix(strings.ToLower(line), "traceback") {
			best = line
			break
		}
	}
	return cut(politeness.ReplaceAllString(best, ""), maxExcerpt)
}

// politeness in an error is no request to who reads the lesson about it.
var politeness = regexp.MustCompile(`(?i)\b(?:please|kindly),?\s+`)

func headOf(s string, characters int) string {
	n := 0
	for i := range s {
		if n == characters {
			return s[:i]
		}
		n++
	}
	return s
}

// cut shortens s to at most n characters, at a space where one is near, and marks the cut.
func cut(s string, n int) string {
	head := headOf(s, n)
	if len(head) == len(s) {
		return s
	}
	head = headOf(s, n-1)
	if at := strings.LastIndexByte(head, ' '); at > len(head)*3/4 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ,;:") + "…"
}

// collapse trims s and turns every run of white space into one space.
func collapse(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
