package keyword

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokenize(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t\n 🎉 ... ---", nil},
		{"the of and", nil},
		{"\xff\xed\xa0\x80", nil},
		{"Retrying failed requests", []string{"retri", "fail", "request"}},
		{"don't don’t couldn't it's", nil},
		{"John's well-known and/or", []string{"john", "well", "known"}},
		{"getUserByID", []string{"getuserbyid", "get", "user", "id"}},
		{"HTTPServer2", []string{"httpserver2", "http", "server", "2"}},
		{"snake_case_name", []string{"snake_case_name", "snake", "case", "name"}},
		{"/usr/local/lib.", []string{"usr/local/lib", "usr", "local", "lib"}},
		{"v1.22.3", []string{"v1.22.3", "v", "1", "22", "3"}},
		{"ERR_CONN_REFUSED", []string{"err_conn_refused", "err", "conn", "refus"}},
		{"E1234: timeout", []string{"e1234", "e", "1234", "timeout"}},
		{"HTTP 429", []string{"http", "429"}},
		{"ＨＴＴＰ　４２９", []string{"http", "429"}},
		{"user@example.com", []string{"user@example.com", "user", "exampl", "com"}},
		{"苹果", []string{"苹", "果", "苹果"}},
		{"喜欢ABC公司", []string{"喜", "欢", "喜欢", "abc", "公", "司", "公司"}},
		{"カード", []string{"カ", "ー", "カー", "ド", "ード"}},
		{"Größe café", []string{"größe", "café"}},
		{"a\xffbroken\xffline", []string{"broken", "line"}},
	}
	for _, c := range cases {
		if got := Tokenize(c.text); !slices.Equal(got, c.want) {
			t.Errorf("Tokenize(%q)\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestTokenizeLong(t *testing.T) {
	for _, unit := range []string{"x", "word ", "a_", "aB", "a1", "重", "é", ".a", "'"} {
		for _, token := range Tokenize(strings.Repeat(unit, 1<<20/len(unit))) {
			if len(token) > maxWhole {
				t.Fatalf("unit %q: token of %d bytes", unit, len(token))
			}
		}
	}
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"getUserByID", "a.b-c_d/e", "苹果 v1.2", "don’t", "\xff", "é́", "'’'", "ǅ", "ﬃ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := Tokenize(text)
		for _, token := range got {
			if token == "" || !utf8.ValidString(token) || len(token) > maxWhole {
				t.Fatalf("token %q of %q", token, text)
			}
		}
		if again := Tokenize(text); !slices.Equal(got, again) {
			t.Fatalf("two results for %q", text)
		}
	})
}
