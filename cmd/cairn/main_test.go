package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"cairn/node/api"
)

func TestExitCodes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		with   answer
		code   int
		stderr string
	}{
		{"found", answer{200, api.TrustDetail{Experience: "e1"}}, exitOK, ""},
		{"not found", problem(api.CodeNotFound, "experience not found"), exitNotFound, "experience not found"},
		{"wrong key", problem(api.CodeUnauthenticated, "unknown key"), exitDenied, "CAIRN_KEY"},
		{"no role", problem(api.CodeDenied, "curators only"), exitDenied, "lacks the role"},
		{"bad value", problem(api.CodeInvalid, "invalid", api.Field{Location: "path.id", Message: "must be a ULID", Value: "e1"}), exitFailed, "path.id: must be a ULID (got e1)"},
		{"broken", problem(api.CodeInternal, "internal error"), exitFailed, "internal error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := cairn(t, answers{"GET /v1/experiences/e1/trust": tc.with}, "", "trust", "e1")
			if got.code != tc.code {
				t.Errorf("code = %d, want %d", got.code, tc.code)
			}
			missing(t, "stderr", got.stderr, tc.stderr)
		})
	}
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		stderr string
	}{
		{"no command", nil, "--help"},
		{"unknown command", []string{"dance"}, "dance"},
		{"unknown flag", []string{"status", "--colour"}, "--colour"},
		{"outcome without a result", []string{"outcome", "rcp_x"}, "--success, --failure or --reward"},
		{"retried without a result", []string{"retried", "r1"}, "--success"},
		{"success and failure", []string{"outcome", "rcp_x", "--success", "--failure"}, "can't be used together"},
		{"empty experience", []string{"record", "experience"}, "--scenario and --content"},
		{"no such file", []string{"record", "trajectory", "nowhere.json"}, "nowhere.json"},
		{"bad address", []string{"status", "--addr", "ftp://x"}, "--addr"},
		{"unknown verdict", []string{"audit", "judge", "e1", "fine"}, "good"},
		{"too many samples", []string{"audit", "sample", "-n", "501"}, "0..500"},
		{"hold of nothing", []string{"hold", "--yes"}, "<id>"},
		{"too parallel", []string{"import", "trajectories", "x", "--parallel", "65"}, "1..64"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("CAIRN_KEY", "ck_test")
			got := command(t.Context(), "", tc.args...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("code = %d, stdout %q, want %d and nothing", got.code, got.stdout, exitUsage)
			}
			missing(t, "stderr", got.stderr, tc.stderr)
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	got := command(t.Context(), "", "recall", "--help")
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("help: code %d, stderr %q", got.code, got.stderr)
	}
	missing(t, "help", got.stdout, "Usage: cairn recall", "--token-budget")
	got = command(t.Context(), "", "version", "--json")
	missing(t, "version", got.stdout, `"version":`, `"go":`)
}

func TestKeys(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers{"GET /v1/experiences/e1/trust": {200, api.TrustDetail{Verdict: r.Header.Get("Authorization")}}}.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(h)
	defer srv.Close()
	dir := t.TempDir()
	t.Setenv("CAIRN_ADDR", srv.URL)
	t.Setenv("CAIRN_DATA", dir)
	t.Setenv("CAIRN_KEY", "")

	got := command(t.Context(), "", "trust", "e1")
	if got.code != exitDenied {
		t.Errorf("without a key: code %d, want %d", got.code, exitDenied)
	}
	missing(t, "stderr", got.stderr, "CAIRN_KEY", dir)

	file := write(t, "agent.key", "ck_file\n")
	missing(t, "with --key-file", command(t.Context(), "", "trust", "e1", "--key-file", file).stdout, "Bearer ck_file")
	t.Setenv("CAIRN_DATA", t.TempDir())
	t.Setenv("CAIRN_KEY_FILE", write(t, "empty.key", " \n"))
	if got := command(t.Context(), "", "trust", "e1"); got.code != exitFailed {
		t.Errorf("with an empty key file: code %d, want %d", got.code, exitFailed)
	}
	t.Setenv("CAIRN_KEY", "ck_env")
	missing(t, "with CAIRN_KEY", command(t.Context(), "", "trust", "e1").stdout, "Bearer ck_env")
	missing(t, "with CAIRN_KEY and --key-file", command(t.Context(), "", "trust", "e1", "--key-file", file).stdout, "Bearer ck_file")
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func TestNoNode(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	t.Setenv("CAIRN_ADDR", srv.URL)
	t.Setenv("CAIRN_KEY", "ck_test")
	got := command(t.Context(), "", "status")
	if got.code != exitUnavailable {
		t.Errorf("code = %d, want %d", got.code, exitUnavailable)
	}
	missing(t, "stderr", got.stderr, srv.URL, "cairn serve")
}

func TestStatusOfANodeThatIsNotReady(t *testing.T) {
	got := cairn(t, answers{
		"GET /readyz":     problem(api.CodeUnavailable, "no leader"),
		"GET /v1/cluster": problem(api.CodeDenied, "admins only"),
		"GET /v1/stats":   {200, api.Stats{Agents: 3, Principals: 2, Experiences: map[string]int{"active": 4, "held": 0}}},
	}, "", "status")
	if got.code != exitUnavailable {
		t.Errorf("code = %d, want %d", got.code, exitUnavailable)
	}
	missing(t, "stdout", got.stdout, "not ready: no leader", "active 4")
}
