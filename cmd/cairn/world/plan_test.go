package world

import (
	"math"
	"strings"
	"testing"
)

func contains(text, value string) bool {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == ':' }) {
		if w == value {
			return true
		}
	}
	return strings.Contains(value, " ") && strings.Contains(text, value)
}

func TestParsePlan(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"one call", `a(x=1)`, `a(x="1")`},
		{"no arguments", `do a()`, `a()`},
		{"chain in a sentence", `Plan that worked: login(user=<user>) -> get(id="7", q="a \"b\"") -> done(). Good.`,
			`login(user=<user>) -> get(id="7", q="a \"b\"") -> done()`},
		{"arrow and newline", "a() →\n b(x=<y>)", `a() -> b(x=<y>)`},
		{"dots and dashes in names", `shop.add-item(n=2)`, `shop.add-item(n="2")`},
		{"first chain wins", `Do a() -> b(); not c()`, `a() -> b()`},
		{"words in brackets are no call", `use it (often) and then a(x=1)`, `a(x="1")`},
		{"broken call is skipped", `a(x= -> b(y=2)`, `b(y="2")`},
		{"nothing", `call support`, ``},
		{"open quote", `a(x="b`, ``},
		{"empty", ``, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, ok := ParsePlan(tc.text)
			if got := plan.String(); got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q %v, want %q", got, ok, tc.want)
			}
		})
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add(`a(x="1") -> b(y=<z>)`)
	f.Add(`a(((x=<>`)
	f.Fuzz(func(t *testing.T, text string) {
		plan, ok := ParsePlan(text)
		if !ok {
			return
		}
		again, ok := ParsePlan(plan.String())
		if !ok || again.String() != plan.String() {
			t.Errorf("%q: %q parses as %q", text, plan, again)
		}
	})
}

func TestNewRate(t *testing.T) {
	// Reference values: Wilson score interval without continuity correction, Newcombe 1998, table I.
	for _, tc := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, .2553, .3662}, {15, 148, .0624, .1605}, {0, 20, 0, .1611}, {1, 29, .0061, .1718}, {0, 0, 0, 1},
	} {
		got := NewRate(tc.k, tc.n)
		if math.Abs(got.Low-tc.low) > 1e-4 || math.Abs(got.High-tc.high) > 1e-4 {
			t.Errorf("%d of %d: [%.4f, %.4f], want [%.4f, %.4f]", tc.k, tc.n, got.Low, got.High, tc.low, tc.high)
		}
	}
}
