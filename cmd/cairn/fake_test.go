package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cairn/node/api"
)

// output is what a command left behind.
type output struct {
	code           int
	stdout, stderr string
}

// cairn runs the command line against a handler that stands in for a node.
func cairn(t *testing.T, h http.Handler, stdin string, args ...string) output {
	t.Helper()
	srv := httptest.NewServer(h)
	defer srv.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	t.Setenv("CAIRN_ADDR", srv.URL)
	t.Setenv("CAIRN_KEY", "ck_test")
	return command(t.Context(), stdin, args...)
}

func command(ctx context.Context, stdin string, args ...string) output {
	var out, errs bytes.Buffer
	code := run(ctx, args, strings.NewReader(stdin), &out, &errs)
	return output{code, out.String(), errs.String()}
}

// answers maps "METHOD /path" to a JSON answer with its status.
type answers map[string]answer

type answer struct {
	status int
	body   any
}

func (m answers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a, ok := m[r.Method+" "+r.URL.Path]
	if !ok {
		a = problem(api.CodeNotFound, "nothing at "+r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

func problem(code api.Code, detail string, fields ...api.Field) answer {
	return answer{code.Status(), map[string]any{"code": code, "detail": detail, "errors": fields}}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// missing fails unless text holds every part.
func missing(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}
