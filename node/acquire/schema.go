package acquire

import (
	"regexp"
	"slices"
	"strings"
)

// maxNames is how many names of a query are told at most.
const maxNames = 8

var (
	identifier = regexp.MustCompile(`'[^']*'|"[^"]*"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?`)
	aliasAfter = regexp.MustCompile("(?i)\\bas\\s+`?([a-z_]\\w*)|\\b(?:from|join)\\s+`?[a-z_][\\w.]*`?\\s+(?:as\\s+)?([a-z_]\\w*)")
)

// reserved are the words of SQL that name nothing in a database.
var reserved = setOf(`select from where and or not in is null like between exists join inner left right full cross natural outer on using as
	group by order having limit offset asc desc distinct all union intersect except case when then else end count sum avg min max round abs cast
	concat lower upper coalesce substring length insert into values update set delete create table drop alter with show tables columns database
	databases describe explain use true false interval`)

// queryNames are the tables and columns of a query in lower case, in order, without aliases.
func queryNames(text string) []string {
	text = unfence(text)
	if !isSQL(text) {
		return nil
	}
	aliases := make(map[string]bool)
	for _, m := range aliasAfter.FindAllStringSubmatch(text, -1) {
		aliases[strings.ToLower(m[1]+m[2])] = true
	}
	var out []string
	for _, word := range identifier.FindAllString(text, -1) {
		if strings.ContainsAny(word, `'"`) {
			continue
		}
		word = strings.ToLower(word)
		if at := strings.IndexByte(word, '.'); at >= 0 {
			word = word[at+1:]
		}
		if len(word) >= 2 && !reserved[word] && !aliases[word] && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// schema is the contrast of queries: the tables and columns of the query with which the best success ended. They say
// more together than one by one, since a query needs all of them.
func (s *scene) schema() (contrasted, bool) {
	tool, names := s.finalNames()
	if len(names) == 0 || len(names) > maxNames {
		return contrasted{}, false
	}
	c := contrasted{feature: feature{
		key: "schema:" + tool + ":" + strings.Join(names, ","), class: classSchema, tool: tool, shown: "`" + strings.Join(names, "`, `") + "`",
	}}
	for _, t := range s.successes {
		if t.queries(tool, names) {
			c.success++
		}
	}
	for _, t := range s.failures {
		if t.queries(tool, names) {
			c.failure++
		}
	}
	c.odds = logOdds(c.success, len(s.successes), c.failure, len(s.failures))
	return c, c.success*len(s.failures) > c.failure*len(s.successes)
}

// finalNames gives the names of the last query of the best plan that read something.
func (s *scene) finalNames() (tool string, names []string) {
	for _, c := range slices.Backward(s.best.plan) {
		text, ok := c.command()
		if ok && !c.failed && strings.Contains(strings.ToLower(text), "from") && !lookAround.MatchString(text) {
			return c.tool, queryNames(text)
		}
	}
	return "", nil
}

var lookAround = regexp.MustCompile(`(?i)^\W*(?:show|desc|describe|explain)\b`)

// queries reports a call that worked and has all the names.
func (t trail) queries(tool string, names []string) bool {
	return slices.ContainsFunc(t.calls, func(c call) bool {
		text, ok := c.command()
		if !ok || c.failed || c.tool != tool {
			return false
		}
		have := queryNames(text)
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(have, n) })
	})
}
