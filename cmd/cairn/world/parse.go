package world

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParsePlan finds the first plan in a text: calls `tool(arg="value", other=<placeholder>, third=3)` joined by `->`.
// Everything around it is ignored, so a plan may stand inside a sentence. It reports false when there is none. Text is
// untrusted: any input is accepted and nothing in it is carried out.
func ParsePlan(text string) (Plan, bool) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !identStart(r) {
			i += size
			continue
		}
		p := parser{text: text, at: i}
		if plan := p.chain(); len(plan) > 0 {
			return plan, true
		}
		i += len(ident(text[i:]))
	}
	return nil, false
}

// parser reads forward from at; a method that does not succeed leaves at where it was.
type parser struct {
	text string
	at   int
}

func (p *parser) chain() Plan {
	var plan Plan
	for {
		call, ok := p.call()
		if !ok {
			return plan
		}
		plan = append(plan, call)
		mark := p.at
		p.space()
		if !p.literal("->") && !p.literal("→") {
			p.at = mark
			return plan
		}
		p.space()
	}
}

func (p *parser) call() (Call, bool) {
	start := p.at
	c := Call{Tool: p.ident(), Args: map[string]string{}}
	if c.Tool == "" || !p.literal("(") {
		p.at = start
		return Call{}, false
	}
	for {
		p.space()
		if p.literal(")") {
			return c, true
		}
		name, value, ok := p.argument()
		if !ok {
			p.at = start
			return Call{}, false
		}
		c.Args[name] = value
		p.space()
		p.literal(",")
	}
}

func (p *parser) argument() (name, value string, ok bool) {
	name = p.ident()
	p.space()
	if name == "" || !p.literal("=") {
		return "", "", false
	}
	p.space()
	value, ok = p.value()
	return name, value, ok
}

func (p *parser) value() (string, bool) {
	rest := p.text[p.at:]
	if strings.HasPrefix(rest, `"`) {
		return p.quoted()
	}
	if strings.HasPrefix(rest, "<") {
		end := strings.IndexByte(rest, '>')
		if end < 2 {
			return "", false
		}
		p.at += end + 1
		return rest[:end+1], true
	}
	end := strings.IndexAny(rest, ",)(=\"\n")
	if end < 1 || rest[end] != ',' && rest[end] != ')' {
		return "", false
	}
	p.at += end
	return strings.TrimSpace(rest[:end]), true
}

func (p *parser) quoted() (string, bool) {
	var b strings.Builder
	for i := p.at + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\\' && i+1 < len(p.text):
			i++
			b.WriteByte(p.text[i])
		case c == '"':
			p.at = i + 1
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func (p *parser) ident() string {
	id := ident(p.text[p.at:])
	p.at += len(id)
	return id
}

func (p *parser) literal(s string) bool {
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) space() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\n' || p.text[p.at] == '\t') {
		p.at++
	}
}

// ident is the longest identifier at the start of s, "" if there is none.
func ident(s string) string {
	for i, r := range s {
		if identStart(r) || i > 0 && (unicode.IsDigit(r) || r == '.' || r == '-' && i+1 < len(s) && s[i+1] != '>') {
			continue
		}
		return s[:i]
	}
	return s
}

func identStart(r rune) bool { return r == '_' || r < utf8.RuneSelf && unicode.IsLetter(r) }
