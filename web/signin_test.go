package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// cookieOf is the session cookie of an answer as a Cookie header.
func cookieOf(t *testing.T, r reply) string {
	t.Helper()
	resp := http.Response{Header: r.header}
	for _, c := range resp.Cookies() {
		if strings.HasPrefix(c.Name, "cairn_session") {
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" {
				t.Errorf("cookie = %+v", c)
			}
			return c.Name + "=" + c.Value
		}
	}
	t.Fatalf("no session cookie in %d %v", r.status, r.header)
	return ""
}

func (st *site) linkPath() string {
	return strings.TrimPrefix(st.web.SignInLink("http://x/", adminKey), "http://x")
}

func TestSignInLinkWorksOnce(t *testing.T) {
	st := newSite(t)
	link := st.linkPath()
	if !strings.HasPrefix(link, "/signin?token=") {
		t.Fatalf("link = %s", link)
	}
	if got := st.do("HEAD", link, "", "Authorization", "-"); got.status != 200 || got.header.Get("Set-Cookie") != "" {
		t.Errorf("preview = %d %v", got.status, got.header)
	}
	got := st.do("GET", link, "", "Authorization", "-")
	if got.status != 303 || got.header.Get("Location") != "/" {
		t.Fatalf("link = %d %v", got.status, got.header)
	}
	cookie := cookieOf(t, got)
	if got = st.do("GET", "/v1/agents/me", "", "Authorization", "-", "Cookie", cookie); got.status != 200 {
		t.Errorf("session = %d %s", got.status, got.body)
	}
	if id := st.fake.last().args[1]; id != "admin" {
		t.Errorf("session of %v", id)
	}
	got = st.do("GET", link, "", "Authorization", "-")
	got.want(t, "second use", 401, "unauthenticated", "")

	got = st.do("POST", "/signout", "", "Authorization", "-", "Cookie", cookie)
	if got.status != 204 || !strings.Contains(got.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("sign out = %d %v", got.status, got.header)
	}
	got = st.do("GET", "/v1/stats", "", "Authorization", "-", "Cookie", cookie)
	got.want(t, "after signing out", 401, "unauthenticated", "")
}

func TestUsedLinkShowsThePageToABrowser(t *testing.T) {
	st := newSite(t)
	req, err := http.NewRequestWithContext(t.Context(), "GET", st.http.URL+"/signin?token=old", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := st.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 401 || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("page = %d %v", resp.StatusCode, resp.Header)
	}
}

func TestSignInWithAKey(t *testing.T) {
	st := newSite(t)
	got := st.do("POST", "/signin", `{"key":"`+agentKey+`"}`, "Authorization", "-")
	if got.status != 204 {
		t.Fatalf("sign in = %d %s", got.status, got.body)
	}
	cookie := cookieOf(t, got)
	st.fake.removeKey(agentKey)
	got = st.do("GET", "/v1/stats", "", "Authorization", "-", "Cookie", cookie)
	got.want(t, "key was removed", 401, "unauthenticated", "")
	for body, want := range map[string]int{`{"key":"ck_x"}`: 401, `{"key":""}`: 422, `{}`: 422, `{"key":1}`: 422, `{"key":"a","b":1}`: 422, `{`: 400} {
		if got = st.do("POST", "/signin", body, "Authorization", "-"); got.status != want {
			t.Errorf("sign in with %s = %d, want %d", body, got.status, want)
		}
	}
}

func TestLinksAndSessionsExpire(t *testing.T) {
	st := newSite(t)
	now := time.Unix(1_800_000_000, 0)
	st.web.signin.now = func() time.Time { return now }
	link := st.linkPath()
	now = now.Add(linkLife)
	got := st.do("GET", link, "", "Authorization", "-")
	got.want(t, "old link", 401, "unauthenticated", "")

	cookie := cookieOf(t, st.do("GET", st.linkPath(), "", "Authorization", "-"))
	now = now.Add(sessionLife - time.Second)
	if got = st.do("GET", "/v1/stats", "", "Authorization", "-", "Cookie", cookie); got.status != 200 {
		t.Errorf("session before its end = %d", got.status)
	}
	now = now.Add(time.Second)
	got = st.do("GET", "/v1/stats", "", "Authorization", "-", "Cookie", cookie)
	got.want(t, "old session", 401, "unauthenticated", "")
}

func TestSessionsAreBounded(t *testing.T) {
	var s signin
	now := time.Unix(1_800_000_000, 0)
	s.init(func() time.Time { now = now.Add(time.Millisecond); return now })
	first := s.open(s.sessions, "k", sessionLife)
	second := s.open(s.sessions, "k", sessionLife)
	for range maxSessions - 1 {
		s.open(s.sessions, "k", sessionLife)
	}
	if len(s.sessions) != maxSessions || s.key(first) != "" || s.key(second) != "k" {
		t.Errorf("%d sessions; first %q, second %q", len(s.sessions), s.key(first), s.key(second))
	}
}
