package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"cairn/node/api"
)

const (
	linkLife    = 10 * time.Minute
	sessionLife = 24 * time.Hour
	maxSessions = 1024 // of each kind; the oldest goes first
)

// signin keeps one-time links and browser sessions in memory, under the SHA-256 of their secrets.
type signin struct {
	now func() time.Time

	mu       sync.Mutex
	links    map[[32]byte]signed
	sessions map[[32]byte]signed
}

// signed is what a secret stands for.
type signed struct {
	key   string
	until time.Time
}

func (s *signin) init(now func() time.Time) {
	s.now, s.links, s.sessions = now, map[[32]byte]signed{}, map[[32]byte]signed{}
}

// open makes a secret for key in one of the two maps.
func (s *signin) open(in map[[32]byte]signed, key string, life time.Duration) string {
	secret := rand.Text() + rand.Text() // 256 bits
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	var oldest [32]byte
	first := time.Time{}
	for id, e := range in {
		if !now.Before(e.until) {
			delete(in, id)
		} else if first.IsZero() || e.until.Before(first) {
			oldest, first = id, e.until
		}
	}
	if len(in) >= maxSessions {
		delete(in, oldest)
	}
	in[sha256.Sum256([]byte(secret))] = signed{key, now.Add(life)}
	return secret
}

// redeem gives the key of a link once.
func (s *signin) redeem(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := sha256.Sum256([]byte(token))
	e, ok := s.links[id]
	delete(s.links, id)
	if !ok || !s.now().Before(e.until) {
		return ""
	}
	return e.key
}

// key gives the key of a session, "" when there is none.
func (s *signin) key(session string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := sha256.Sum256([]byte(session))
	e, ok := s.sessions[id]
	if !ok || !s.now().Before(e.until) {
		delete(s.sessions, id)
		return ""
	}
	return e.key
}

func (s *signin) end(session string) {
	if session == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, sha256.Sum256([]byte(session)))
}

// SignInLink makes an address below base (http://host:port) that signs a browser in with key. It works once, within ten
// minutes, on this process.
func (s *Server) SignInLink(base, key string) string {
	return strings.TrimRight(base, "/") + "/signin?token=" + s.signin.open(s.signin.links, key, linkLife)
}

// cookieName has the port in it: cookies do not know ports, and two nodes on one machine must not sign each other out.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "cairn_session_" + port
	}
	return "cairn_session"
}

func (s *Server) setSession(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
}

// useLink is GET /signin?token=...: it signs the browser in and shows the page. A link that does not stand is answered
// with the page too, which says so; tools get a problem document.
func (s *Server) useLink(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead { // link previews must not use the link up
		w.WriteHeader(http.StatusOK)
		return
	}
	key := s.signin.redeem(r.URL.Query().Get("token"))
	if key != "" {
		if _, p := s.authenticate(r.Context(), credential{given: true, bearer: key}); p != nil {
			key = ""
		}
	}
	if key == "" {
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			s.index(w, http.StatusUnauthorized)
			return
		}
		problem(api.CodeUnauthenticated, "this sign-in link was used or is older than ten minutes").write(w)
		return
	}
	s.setSession(w, r, s.signin.open(s.signin.sessions, key, sessionLife), int(sessionLife.Seconds()))
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// signIn is POST /signin {"key":"..."}, the page's form.
func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	var form struct {
		Key string `json:"key"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil || form.Key == "" {
		invalid("body.key", "is required, as a string, and nothing else", nil).write(w)
		return
	}
	if _, p := s.authenticate(r.Context(), credential{given: true, bearer: form.Key}); p != nil {
		p.write(w)
		return
	}
	s.setSession(w, r, s.signin.open(s.signin.sessions, form.Key, sessionLife), int(sessionLife.Seconds()))
	w.WriteHeader(http.StatusNoContent)
}

// signOut is POST /signout.
func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	s.signin.end(s.credential(r).session)
	s.setSession(w, r, "", -1)
	w.WriteHeader(http.StatusNoContent)
}
