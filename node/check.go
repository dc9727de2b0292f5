package node

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"cairn/node/api"
)

// Limits of the service, in characters unless said otherwise.
const (
	maxTask        = 8000
	maxScenario    = 1000
	maxContent     = 8000
	maxKeywords    = 12
	maxWord        = 128
	maxMapEntries  = 64
	maxMapValue    = 512
	maxAttempts    = 16
	maxSteps       = 256
	maxObservation = 16 << 10 // bytes
	maxGroupKey    = 128
	maxExternalID  = 256
	maxTaskType    = 64
	maxNote        = 2000
)

// checkText refuses what is not text, and, when required, what is blank.
func checkText(location, s string, limit int, required bool) error {
	switch {
	case required && strings.TrimSpace(s) == "":
		return api.Invalid(location, "must not be blank", clip(s))
	case !utf8.ValidString(s):
		return api.Invalid(location, "must be valid UTF-8", nil)
	case strings.ContainsRune(s, 0):
		return api.Invalid(location, "must not contain NUL characters", nil)
	case utf8.RuneCountInString(s) > limit:
		return api.Invalid(location, fmt.Sprintf("must be at most %d characters", limit), utf8.RuneCountInString(s))
	}
	return nil
}

func checkWords(location string, list []string, limit int) error {
	if len(list) > limit {
		return api.Invalid(location, fmt.Sprintf("must have at most %d entries", limit), len(list))
	}
	for i, s := range list {
		if err := checkText(fmt.Sprintf("%s[%d]", location, i), s, maxWord, true); err != nil {
			return err
		}
	}
	return nil
}

func checkMap(location string, m map[string]string) error {
	if len(m) > maxMapEntries {
		return api.Invalid(location, fmt.Sprintf("must have at most %d entries", maxMapEntries), len(m))
	}
	for k, v := range m {
		at := location + "." + clip(k)
		if err := firstError(checkText(at, k, maxWord, true), checkText(at, v, maxMapValue, false)); err != nil {
			return err
		}
	}
	return nil
}

func checkTaskType(location, s string) error {
	if s != "" && (!utf8.ValidString(s) || utf8.RuneCountInString(s) > maxTaskType || strings.ContainsFunc(s, notInTaskType)) {
		return api.Invalid(location, "must be at most 64 letters, digits, dots, dashes or underscores", clip(s))
	}
	return nil
}

// notInTaskType leaves letters of every script: fleets name their tasks in their own language.
func notInTaskType(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("._-", r)
}

func checkChoice(location, s string, choices ...string) error {
	for _, c := range choices {
		if s == c {
			return nil
		}
	}
	return api.Invalid(location, "must be one of "+strings.Join(choices, ", "), clip(s))
}

// checkTime reads an RFC 3339 time as Unix ms; empty is 0.
func checkTime(location, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.UnixMilli() <= 0 {
		return 0, api.Invalid(location, "must be an RFC 3339 time after 1970, e.g. 2027-01-31T00:00:00Z", clip(s))
	}
	return t.UnixMilli(), nil
}
