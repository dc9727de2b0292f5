package acquire

import (
	"maps"
	"testing"
)

func TestConditions(t *testing.T) {
	tests := map[string]struct {
		task string
		env  map[string]string
		want map[string]string
	}{
		"nothing":                      {"book a flight", nil, nil},
		"environment":                  {"book a flight", map[string]string{"site": "acme", "os": "linux", "version": "v2"}, map[string]string{"site": "acme", "os": "linux", "version": "v2"}},
		"what changes from run to run": {"x", map[string]string{"run_id": "7", "request-id": "a", "host": "box", "job": "a81f22c9", "at": "2026-03-01", "file": "a/b", "mail": "a@b"}, nil},
		"logged in":                    {"You are already logged in. Cancel the order.", nil, map[string]string{"logged_in": "true"}},
		"not logged in":                {"The user is not logged in; show the price", nil, map[string]string{"logged_in": "false"}},
		"logging in is the task":       {"log in and cancel the order", nil, nil},
		"the environment stands":       {"You are already logged in", map[string]string{"logged_in": "no"}, map[string]string{"logged_in": "no"}},
		"offline and read-only":        {"Install it offline on a read-only disk as root", nil, map[string]string{"network": "off", "read_only": "true", "admin": "true"}},
		"without rights":               {"install it without root rights", nil, map[string]string{"admin": "false"}},
		"Chinese":                      {"用户已登录，在没有网络的情况下导出", nil, map[string]string{"logged_in": "true", "network": "off"}},
		"Chinese, not":                 {"用户尚未登录，查询价格", nil, map[string]string{"logged_in": "false"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Conditions(Group{Task: tt.task, Environment: tt.env})
			if !maps.Equal(got, tt.want) || (got == nil) != (tt.want == nil) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestDraftsHaveConditions(t *testing.T) {
	g := Group{Task: "You are already logged in. " + flight, Environment: map[string]string{"site": "acme"}, Attempts: []Attempt{unlogged, logged}}
	drafts, _ := Distil(g)
	if len(drafts) == 0 {
		t.Fatal("no drafts")
	}
	for _, d := range drafts {
		if !maps.Equal(d.Preconditions, map[string]string{"site": "acme", "logged_in": "true"}) {
			t.Errorf("%s has the preconditions %v", d.Lens, d.Preconditions)
		}
	}
}
