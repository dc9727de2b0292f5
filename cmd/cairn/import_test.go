package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"cairn/cmd/cairn/importer"
	"cairn/node/api"
)

// recorder is a node that takes trajectories as the wire contract says: an external id is recorded once.
type recorder struct {
	roles []string

	mu       sync.Mutex
	known    map[string]bool
	order    map[string][]string // external ids by group
	complete map[string]int
	gate     map[string][]api.GateRow
	keys     []string
}

func newRecorder(roles ...string) *recorder {
	return &recorder{roles: roles, known: map[string]bool{}, order: map[string][]string{}, complete: map[string]int{}, gate: map[string][]api.GateRow{}}
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	a := problem(api.CodeNotFound, "not found")
	switch {
	case path == "agents/me":
		a = answer{200, api.Agent{ID: "me", Roles: s.roles}}
	case r.Method == http.MethodPost && path == "agents":
		s.keys = append(s.keys, "made")
		a = answer{201, api.CreatedAgent{Key: new("ck_import"), KeyID: "k1"}}
	case r.Method == http.MethodDelete && path == "agents/import/keys/k1" && r.Header.Get("Authorization") == "Bearer ck_test":
		s.keys = append(s.keys, "removed")
		a = answer{200, map[string]any{}}
	case path == "trajectories" && slices.Contains(s.roles, api.RoleAdmin) != (r.Header.Get("Authorization") == "Bearer ck_import"):
		a = problem(api.CodeDenied, "not an agent's key")
	case path == "trajectories":
		a = s.record(r)
	case strings.HasPrefix(path, "trajectories/"):
		id := strings.TrimPrefix(path, "trajectories/")
		a = answer{200, api.Trajectory{ID: id, Status: "distilled", Gate: s.gate[id], Experiences: []string{"e1"}}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

func (s *recorder) record(r *http.Request) answer {
	var req api.RecordTrajectory
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return problem(api.CodeInvalid, err.Error())
	}
	for i, at := range req.Attempts {
		if at.Reward != nil && *at.Reward > 1 {
			return problem(api.CodeInvalid, "invalid", api.Field{Location: fmt.Sprintf("body.attempts[%d].reward", i), Message: "must be 0..1", Value: *at.Reward})
		}
	}
	id := strings.ReplaceAll(req.GroupKey, "/", "-")
	got := api.RecordedTrajectory{ID: id}
	for _, at := range req.Attempts {
		if s.known[at.ExternalID] {
			got.Known++
			continue
		}
		s.known[at.ExternalID] = true
		got.Recorded++
		s.order[req.GroupKey] = append(s.order[req.GroupKey], at.ExternalID)
		route := "buffer"
		if at.Reward != nil && *at.Reward == 1 {
			route = "long_term"
		}
		s.gate[id] = append(s.gate[id], api.GateRow{Route: route})
	}
	if req.Complete {
		s.complete[req.GroupKey]++
	}
	return answer{202, got}
}

func line(task string, attempt int, reward string) string {
	return fmt.Sprintf(`{"task_id":%q,"domain":"shop","task":"buy %s","attempt":%d,"agent":"m","reward":%s,"success":null,"source":"x","steps":[{"tool":"buy","args":{},"observation":"ok","invalid":false}]}`,
		task, task, attempt, reward)
}

func imported(t *testing.T, s *recorder, text string, args ...string) (importer.Result, output) {
	t.Helper()
	out := cairn(t, s, text, append([]string{"import", "trajectories", "-", "--json"}, args...)...)
	var res importer.Result
	if err := json.Unmarshal([]byte(out.stdout), &res); err != nil {
		t.Fatalf("stdout %q, stderr %q: %v", out.stdout, out.stderr, err)
	}
	res.Seconds = 0
	return res, out
}

func TestImport(t *testing.T) {
	text := strings.Join([]string{line("a", 0, "1"), line("b", 0, "0"), "", line("a", 1, "0.5"), line("b", 1, "null"), line("a", 2, "1")}, "\n")
	s := newRecorder(api.RoleAgent)
	got, out := imported(t, s, text)
	want := importer.Result{Read: 5, Recorded: 5, Failures: []importer.Failure{}, Experiences: 2,
		Routes: importer.Routes{LongTerm: 2, Buffer: 3}, Dropped: map[string]int{"source": 5, "steps.invalid": 5}}
	if out.code != exitOK || !reflect.DeepEqual(got, want) {
		t.Errorf("code %d, got %+v, want %+v", out.code, got, want)
	}
	if w := []string{"shop/a/m/0", "shop/a/m/1", "shop/a/m/2"}; !reflect.DeepEqual(s.order["shop/a"], w) {
		t.Errorf("order of group a = %v, want %v", s.order["shop/a"], w)
	}
	if s.complete["shop/a"] != 1 || s.complete["shop/b"] != 1 {
		t.Errorf("groups were completed %v times, want once each", s.complete)
	}

	got, out = imported(t, s, text)
	want = importer.Result{Read: 5, AlreadyKnown: 5, Failures: []importer.Failure{}, Dropped: want.Dropped}
	if out.code != exitOK || !reflect.DeepEqual(got, want) {
		t.Errorf("again: code %d, got %+v, want %+v", out.code, got, want)
	}
}

func TestImportGoesOnAfterBadLines(t *testing.T) {
	text := strings.Join([]string{
		line("a", 0, "1"), `{"task_id":`, line("a", 1, "2"), `{"task_id":"c","domain":"shop","task":" "}`,
		`{"task_id":"c","domain":7,"task":"x"}`, `{"task":"x"}`, line("a", 2, "0"), line("a", 3, "3"),
	}, "\n")
	s := newRecorder(api.RoleAgent)
	got, out := imported(t, s, text)
	if out.code != exitFailed {
		t.Errorf("code = %d, want %d", out.code, exitFailed)
	}
	if got.Read != 8 || got.Recorded != 2 || got.Failed != 6 {
		t.Errorf("read %d recorded %d failed %d, want 8, 2, 6", got.Read, got.Recorded, got.Failed)
	}
	wants := []struct {
		line int
		text string
	}{{2, "not JSON"}, {3, "body.attempts[0].reward: must be 0..1 (got 2)"}, {4, "task is blank"}, {5, "domain"}, {6, "task_id and domain"}, {8, "got 3"}}
	for i, w := range wants {
		if got.Failures[i].Line != w.line || !strings.Contains(got.Failures[i].Error, w.text) {
			t.Errorf("failure %d = %+v, want line %d with %q", i, got.Failures[i], w.line, w.text)
		}
	}
	if s.complete["shop/a"] != 1 {
		t.Errorf("group a was completed %d times, want once although its last row was refused", s.complete["shop/a"])
	}
}

func TestImportLargeGroups(t *testing.T) {
	var lines []string
	for i := range 40 {
		lines = append(lines, line("a", i, "0"))
	}
	s := newRecorder(api.RoleAgent)
	got, _ := imported(t, s, strings.Join(lines, "\n"))
	if got.Recorded != 40 || len(s.order["shop/a"]) != 40 || s.complete["shop/a"] != 1 {
		t.Errorf("recorded %d, completed %d, want 40 and 1", got.Recorded, s.complete["shop/a"])
	}
}

func TestImportWithAnAdminKeyEnrolsAnAgent(t *testing.T) {
	s := newRecorder(api.RoleAdmin)
	got, out := imported(t, s, line("a", 0, "1"))
	if out.code != exitOK || got.Recorded != 1 {
		t.Errorf("code %d, recorded %d, want 0 and 1: %s", out.code, got.Recorded, out.stderr)
	}
	if out.stderr != "" {
		t.Errorf("stderr: %s", out.stderr)
	}
	if want := []string{"made", "removed"}; !reflect.DeepEqual(s.keys, want) {
		t.Errorf("keys %v, want %v", s.keys, want)
	}
}

func TestImportStopsWhenTheServerFails(t *testing.T) {
	out := cairn(t, answers{
		"GET /v1/agents/me":     {200, api.Agent{ID: "me", Roles: []string{api.RoleAgent}}},
		"POST /v1/trajectories": problem(api.CodeInternal, "internal error"),
	}, line("a", 0, "1"), "import", "trajectories", "-")
	if out.code != exitFailed || out.stdout != "" {
		t.Errorf("code %d, stdout %q, want a failure without counts", out.code, out.stdout)
	}
}
