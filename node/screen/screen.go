package screen

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Text screens one text by all rules. It accepts any string; bytes that are no UTF-8 are left alone.
func Text(s string) Result { return screen(s, true) }

// Fields screens what an experience would share. A request ("please ...") is a finding in the content and the keywords and
// none in the scenario, which describes what somebody asked for.
func Fields(scenario, content string, keywords []string) Fielded {
	out := Fielded{Action: Pass}
	take := func(field, text string, requests bool) string {
		r := screen(text, requests)
		for _, f := range r.Findings {
			f.Field = field
			out.Findings = append(out.Findings, f)
		}
		out.Action = stricter(out.Action, r.Action)
		return r.Text
	}
	out.Scenario = take("scenario", scenario, false)
	out.Content = take("content", content, true)
	for i, k := range keywords {
		out.Keywords = append(out.Keywords, take(fmt.Sprintf("keywords[%d]", i), k, true))
	}
	return out
}

func screen(s string, requests bool) Result {
	f := fold(s)
	lower := strings.ToLower(f.text)
	spans := byRules(f.text, lower, secretRules, nil)
	spans = byRules(f.text, lower, personalRules, spans)
	orders := byRules(f.text, lower, orderRules, nil)
	if requests {
		orders = byRules(f.text, lower, requestRules, orders)
	}
	var findings []Finding
	for _, found := range append(spans, orders...) {
		found.Start, found.End = f.original(found.Start, found.End)
		findings = append(findings, found)
	}
	findings = append(findings, hiddenCharacters(s)...)
	findings = append(findings, homoglyphs(s)...)
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return Result{Action: strictest(findings), Text: redact(s, findings), Findings: findings}
}

func strictest(findings []Finding) Action {
	action := Pass
	for _, f := range findings {
		action = stricter(action, f.Action)
	}
	return action
}

// byRules adds what rules find and what does not overlap with a finding that is there already.
func byRules(text, lower string, rules []rule, found []Finding) []Finding {
	for _, r := range rules {
		for _, f := range r.find(text, lower) {
			if !slices.ContainsFunc(found, func(o Finding) bool { return f.Start < o.End && o.Start < f.End }) {
				found = append(found, f)
			}
		}
	}
	return found
}

// redact replaces the spans of secrets and personal data and takes hidden characters out.
func redact(s string, findings []Finding) string {
	var b strings.Builder
	last := 0
	for _, f := range findings {
		if f.Kind == Instruction || f.Rule == "homoglyph" || f.End <= last {
			continue
		}
		b.WriteString(s[last:max(last, f.Start)])
		if f.Kind != Hidden {
			b.WriteString("[redacted:" + f.Rule + "]")
		}
		last = f.End
	}
	b.WriteString(s[last:])
	return b.String()
}
