package web

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"cairn/node/api"
)

// FuzzCheckJSON holds the guard against encoding/json: what it passes is JSON that loses nothing on the way in, and it
// calls broken exactly what encoding/json calls broken.
func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+3,true,null,"\u00e9\ud83d\ude00\n"]}`, `{}`, `[]`, ` "x" `, `{"a":1,"a":2}`, `"\ud800"`, `"\u0000"`, `01`, `1.`, `-`, `NaN`,
		`{"a":1}{}`, "\"\xff\"", "\"\x00\"", "\"\x01\"", `{"a"`, `[1,]`, `{"a":1,}`, `"\q"`, `1e999`, strings.Repeat("[", 70), `"\u12`, `"\ud83d\u0041"`, `tru`, "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		fault := checkJSON(raw)
		valid := json.Valid(raw)
		switch {
		case fault == nil && (!valid || !utf8.Valid(raw)):
			t.Fatalf("passed %q", raw)
		case fault != nil && fault.status == 400 && valid:
			t.Fatalf("called broken what is JSON: %q: %+v", raw, fault)
		case fault == nil:
			sameValue(t, raw)
		}
		if fault != nil {
			p := fault.problem()
			if p.Detail == "" || !strings.HasPrefix(p.Errors[0].Location, "body") || !utf8.ValidString(p.Detail) {
				t.Fatalf("problem = %+v", p)
			}
		}
	})
}

// sameValue decodes, encodes and decodes again: nothing was replaced by U+FFFD that was not there.
func sameValue(t *testing.T, raw []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("passed %q: %v", raw, err)
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if f := checkJSON(again); f != nil {
		t.Fatalf("own encoding of %q refused: %+v", raw, f)
	}
	if bytes.ContainsRune(again, utf8.RuneError) && !bytes.ContainsRune(raw, utf8.RuneError) && !bytes.Contains(bytes.ToLower(raw), []byte(`\ufffd`)) {
		t.Fatalf("%q lost a character: %q", raw, again)
	}
}

func FuzzIfMatch(f *testing.F) {
	for _, s := range []string{`"3"`, `3`, `*`, `W/"3"`, `"-1"`, `"+1"`, `""`, `"`, `"99999999999"`, ` 7 `, "\"1\x00\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := (&MatchParam{IfMatch: s}).version()
		if err != nil {
			if p, ok := err.(*Problem); !ok || p.Status != 412 || n != 0 { //nolint:errorlint // made here
				t.Fatalf("%q = %d, %v", s, n, err)
			}
			return
		}
		if n == 0 && s != "" {
			t.Fatalf("%q counts as absent", s)
		}
		if n > 0 {
			if again, err := (&MatchParam{IfMatch: etag(n)}).version(); err != nil || again != n {
				t.Fatalf("%q = %d, as tag %d, %v", s, n, again, err)
			}
		}
	})
}

func FuzzFeedHello(f *testing.F) {
	for _, s := range []string{
		`{"type":"hello","cursor":"1:2.3","filters":{"types":["a.b"]}}`, `{"type":"hello","filters":{"pools":["own"],"min_trust":1}}`, `{"type":"x"}`, `[]`, `null`, `{`,
		`{"type":"hello","cursor":"18446744073709551615:0.1"}`, `{"type":"hello","cursor":"18446744073709551616:0.1"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		hello, reason := parseHello(raw)
		if reason != "" {
			return
		}
		if hello.Type != "hello" {
			t.Fatalf("%q passed", raw)
		}
		if validCursor(hello.Cursor) && strings.Count(hello.Cursor, ":")+strings.Count(hello.Cursor, ".") != 2 {
			t.Fatalf("cursor %q passed", hello.Cursor)
		}
		checked, bad := checkFilter(hello.Filters, api.Caller{Agent: "a"})
		if bad == nil && (checked.MinTrust < 0 || checked.MinTrust > 1) {
			t.Fatalf("filter %+v passed", checked)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"a=1&b=2", "a=1&a=2", "a=%zz", "a;b", "a", "=", "%ff=1", "a=%00", "a=b=c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if p := checkQuery(raw); p != nil && (p.Code != api.CodeInvalid || len(p.Errors) != 1 || !utf8.ValidString(p.Errors[0].Location)) {
			t.Fatalf("%q = %+v", raw, p)
		}
	})
}

func FuzzPlainPath(f *testing.F) {
	for _, s := range []string{"/", "/v1/a", "//", "/a//b", "/./", "/a/..", "/a/", "a", "/\x00", "/\xff", "/a/...", "/.a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if !plainPath(p) || p == "/" {
			return
		}
		for segment := range strings.SplitSeq(p[1:], "/") {
			if segment == "" || segment == "." || segment == ".." {
				t.Fatalf("%q passed", p)
			}
		}
	})
}
