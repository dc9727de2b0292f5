package acquire

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	maxConditions     = 8
	maxConditionChars = 64 // of a name or value that is kept
)

// given are states that a task says hold before it begins, under names by which an environment tells them. The first
// pattern that a text matches decides a name, so that a negation comes before what it negates.
var given = []struct {
	re          *regexp.Regexp
	name, value string
}{
	{regexp.MustCompile(`(?i)\b(?:not|never|isn't|aren't|am not|without being) (?:yet )?(?:logged|signed) in\b|\b(?:logged|signed) out\b|尚?未登录|没有登录`), "logged_in", "false"},
	{regexp.MustCompile(`(?i)\b(?:already|is|are|am|being|'m|'re|while|when|once) (?:logged|signed) in\b|已(?:经)?登录`), "logged_in", "true"},
	{regexp.MustCompile(`(?i)\b(?:offline|without (?:an? )?(?:internet|network)|no (?:internet|network)(?: access| connection)?)\b|离线|没有网络|无网络|断网`), "network", "off"},
	{regexp.MustCompile(`(?i)\bread[- ]only\b|只读`), "read_only", "true"},
	{regexp.MustCompile(`(?i)\bdry[- ]run\b|试运行|演练模式`), "dry_run", "true"},
	{regexp.MustCompile(`(?i)\b(?:without|no|lacking) (?:root|sudo|admin(?:istrator)?)(?: rights| access| privileges)?\b|(?:没有|无)(?:管理员|root)权限`), "admin", "false"},
	{regexp.MustCompile(`(?i)\b(?:as|with) (?:an? |the )?(?:root|admin(?:istrator)?)(?: rights| access| privileges)?\b|以(?:管理员|root)身份|有管理员权限`), "admin", "true"},
}

// changing are names of an environment that say when or where something ran and nothing about what it needs.
var changing = regexp.MustCompile(`(?i)(?:^|_|-)(?:id|uuid|time|date|timestamp|run|seed|session|request|trace|host|hostname|cwd|dir|path|url|pid|port|tmp|home)(?:$|_|-)`)

// Conditions are what has to hold for a lesson of the group: what its environment says that does not change from run to
// run, and the states that its task gives. Where both name something, the environment stands. nil when there is nothing.
func Conditions(g Group) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(g.Environment)) {
		value := collapse(g.Environment[name])
		if len(out) < maxConditions && lasting(name, value) {
			out[name] = value
		}
	}
	task := withoutMarked(g.Task)
	for _, c := range given {
		if _, known := out[c.name]; !known && g.Environment[c.name] == "" && len(out) < maxConditions && c.re.MatchString(task) {
			out[c.name] = c.value
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// lasting reports a name and value that may hold another time: neither an id nor a place or time of one run.
func lasting(name, value string) bool {
	if name == "" || value == "" || len([]rune(name)) > maxConditionChars || len([]rune(value)) > maxConditionChars {
		return false
	}
	return !changing.MatchString(name) && !madeUp(value) && !strings.ContainsAny(value, "/\\@") && len(datesIn(value)) == 0
}
