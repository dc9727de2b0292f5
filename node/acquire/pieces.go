package acquire

import (
	"regexp"
	"slices"
	"strings"
)

const (
	maxPieces = 120
	maxPiece  = 48
)

// pieces are the parts of a command, query or program that can make a difference, each once: the programs, their flags,
// how they are joined, and their short words for a shell; clauses, functions, tables and columns for SQL; called names for
// anything else.
func pieces(text string) []string {
	text = unfence(text)
	var found []string
	if isSQL(text) {
		found = sqlPieces(text)
	} else if isProgram(text) {
		found = codePieces(text)
	} else {
		found = shellPieces(text)
	}
	return distinct(found)
}

func distinct(list []string) []string {
	var out []string
	for _, p := range list {
		if len(p) >= 2 && strings.ContainsFunc(p, inWordOrHan) && !isNumber(p) && len(p) <= maxPiece && len(out) < maxPieces && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

var fence = regexp.MustCompile("(?is)^```[a-z]*\\s*\n?|\n?```\\s*$")

// unfence drops the Markdown fence a model puts around a command.
func unfence(s string) string {
	return strings.TrimSpace(fence.ReplaceAllString(strings.TrimSpace(s), ""))
}

var (
	sqlStart  = regexp.MustCompile(`(?i)^\s*(?:select|show|desc|describe|insert|update|delete|with|create|alter|drop|explain|use)\b`)
	codeStart = regexp.MustCompile(`(?m)^\s*(?:def |class |import |from \w+ import |print\()`)
)

func isSQL(s string) bool     { return sqlStart.MatchString(s) }
func isProgram(s string) bool { return codeStart.MatchString(s) }

// sqlClauses are the phrases of a query that are looked for, in upper case, longest first where they overlap.
var sqlClauses = []string{
	"SHOW TABLES", "SHOW DATABASES", "SHOW COLUMNS", "LEFT JOIN", "RIGHT JOIN", "INNER JOIN", "CROSS JOIN", "NATURAL JOIN", "JOIN",
	"GROUP BY", "ORDER BY", "HAVING", "LIMIT", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "NOT IN", "NOT EXISTS", "EXISTS", "NOT LIKE",
	"LIKE", "BETWEEN", "IS NULL", "CASE WHEN", "WHERE",
}

var (
	sqlFunction = regexp.MustCompile(`(?i)\b(count|sum|avg|min|max|round|concat|lower|upper|coalesce|substring|length|cast|abs)\s*\(\s*(distinct\s+\*?|\*)?`)
	sqlTable    = regexp.MustCompile("(?i)\\b(?:from|join|into|update|desc|describe|table)\\s+`?([a-z_][\\w.]*)`?")
	sqlColumn   = regexp.MustCompile(`(?i)\b[a-z]\w*\.([a-z_]\w*)\b|\b([a-z]+_[a-z_0-9]*[a-z0-9])\b`)
	sqlLiteral  = regexp.MustCompile(`'[^']{1,30}'|"[^"]{1,30}"`)
	sqlLook     = regexp.MustCompile(`^\s*(?:DESC|DESCRIBE)\b`)
	sqlOrder    = regexp.MustCompile(`\bORDER BY\b.*\bDESC\b`)
	sqlSub      = regexp.MustCompile(`(?i)\(\s*select\b`)
	spaces      = regexp.MustCompile(`\s+`)
)

// schemaNames are the tables of a query; nothing for what is no query.
func schemaNames(text string) []string {
	text = unfence(text)
	if !isSQL(text) {
		return nil
	}
	var out []string
	for _, m := range sqlTable.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(m[1]); !sqlWords[name] {
			out = append(out, name)
		}
	}
	return out
}

func sqlPieces(text string) []string {
	upper := strings.ToUpper(spaces.ReplaceAllString(text, " "))
	out := schemaNames(text)
	for _, clause := range sqlClauses {
		if containsWord(upper, clause) {
			out = append(out, clause)
		}
	}
	if sqlLook.MatchString(upper) {
		out = append(out, "DESCRIBE")
	} else if sqlOrder.MatchString(upper) {
		out = append(out, "DESC")
	}
	if sqlSub.MatchString(text) {
		out = append(out, "(SELECT")
	}
	for _, m := range sqlFunction.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ToUpper(m[1])+"("+strings.ToUpper(strings.TrimSpace(m[2])))
	}
	for _, m := range sqlColumn.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ToLower(m[1]+m[2]))
	}
	return append(out, sqlLiteral.FindAllString(text, -1)...)
}

var sqlWords = setOf("select where group order limit on set values as the a")

func containsWord(s, phrase string) bool {
	for from := 0; ; {
		at := strings.Index(s[from:], phrase)
		if at < 0 {
			return false
		}
		at += from
		if wordAt(s, at, at+len(phrase)) {
			return true
		}
		from = at + 1
	}
}

var calledName = regexp.MustCompile(`\b([A-Za-z_][\w.]*)\s*\(`)
var keyword = regexp.MustCompile(`\b(?:for|while|if|else|elif|try|except|return|yield|lambda|import|from|with|class|def|in|sorted|not|and|or)\b`)

func codePieces(text string) []string {
	var out []string
	for _, m := range calledName.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+"(")
	}
	return append(out, keyword.FindAllString(text, -1)...)
}

// shellWord matches quoted strings as one word, operators, and everything else up to white space.
var shellWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'|\|\||&&|[|;<>]+|\$\(|\)|[^\s"'|;&<>()]+|&`)

func shellPieces(text string) []string {
	var out []string
	program, starting := "", true
	for _, w := range shellWord.FindAllString(text, 400) {
		switch {
		case w == "|" || w == "&&" || w == "||" || w == ";" || w == "$(" || w == "&":
			if w == "|" && program != "" {
				out = append(out, program+" |")
			}
			starting = true
		case strings.Trim(w, "<>") == "":
		case w == ")" || assignment.MatchString(w):
		case starting && !strings.HasPrefix(w, "-"):
			program, starting = strings.TrimPrefix(w, "/bin/"), wrappers[w]
			out = append(out, program)
		case strings.HasPrefix(w, "-") && len(w) > 1:
			out = append(out, program+" "+w)
			starting = starting || w == "-exec"
		default:
			out = append(out, w)
		}
	}
	return out
}

var assignment = regexp.MustCompile(`^[A-Za-z_]\w*=`)

var wrappers = map[string]bool{"sudo": true, "time": true, "nohup": true, "env": true, "command": true, "xargs": true, "exec": true}
