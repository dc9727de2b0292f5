package web

import (
	"context"
	"net/http"
	"strings"

	"cairn/node/api"
)

// credential is what a request or a feed was signed with. A session is looked up again at each use, so that signing out
// ends what it opened.
type credential struct {
	given   bool
	bearer  string
	session string
}

// credential reads the Authorization header or, without one, the session cookie.
func (s *Server) credential(r *http.Request) credential {
	if given := r.Header.Values("Authorization"); len(given) > 0 {
		scheme, key, _ := strings.Cut(given[0], " ")
		if len(given) > 1 || !strings.EqualFold(scheme, "Bearer") {
			key = ""
		}
		return credential{given: true, bearer: strings.TrimSpace(key)}
	}
	if c, err := r.Cookie(cookieName(r)); err == nil {
		return credential{given: true, session: c.Value}
	}
	return credential{}
}

// authenticate finds out who calls.
func (s *Server) authenticate(ctx context.Context, c credential) (api.Caller, *Problem) {
	key := c.bearer
	if c.session != "" {
		key = s.signin.key(c.session)
	}
	if key == "" {
		detail := "send Authorization: Bearer <key>"
		if c.given {
			detail = "the key or session is not valid"
		}
		return api.Caller{}, problem(api.CodeUnauthenticated, detail)
	}
	caller, err := s.svc.Authenticate(ctx, key)
	if err == nil {
		return caller, nil
	}
	p := s.refused(ctx, err)
	if p.Code == api.CodeUnauthenticated {
		p.header.Set("WWW-Authenticate", `Bearer realm="cairn", error="invalid_token"`)
		s.signin.end(c.session)
	}
	return api.Caller{}, p
}

// metricsAllowed: this machine may look at metrics; anyone else needs an admin's or auditor's key.
func (s *Server) metricsAllowed(r *http.Request) *Problem {
	if loopback(r) {
		return nil
	}
	caller, p := s.authenticate(r.Context(), s.credential(r))
	if p != nil {
		return p
	}
	if !caller.Has(api.RoleAdmin, api.RoleAuditor) {
		return problem(api.CodeDenied, "metrics need the role admin or auditor")
	}
	return nil
}
