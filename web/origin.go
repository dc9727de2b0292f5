package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"cairn/node/api"
)

// checkCaller refuses requests that a web page of another place made a browser send: a foreign Host is DNS rebinding, a
// foreign Origin is a page of another address. Tools that are no browsers send no Origin and pass.
func (s *Server) checkCaller(w http.ResponseWriter, r *http.Request) *Problem {
	if !s.ownHost(r) {
		return problem(api.CodeDenied, "this Host is not served here", field("header.Host", "is not a name of this node", nil))
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	if len(origins) > 1 || !s.ownOrigin(r, origins[0]) {
		return problem(api.CodeDenied, "pages of this Origin may not call this node", field("header.Origin", "is not allowed", nil))
	}
	if slices.Contains(s.opt.Origins, origins[0]) {
		w.Header().Set("Access-Control-Allow-Origin", origins[0])
		w.Header().Set("Access-Control-Expose-Headers", "Cairn-Index, ETag, Idempotent-Replay, Retry-After")
		w.Header().Add("Vary", "Origin")
	}
	return nil
}

// ownHost allows loopback names and addresses, the address the connection came in on, and Options.Hosts. A request
// without Host (HTTP/1.0, health checks) comes from no browser.
func (s *Server) ownHost(r *http.Request) bool {
	if r.Host == "" {
		return true
	}
	name := hostname(r.Host)
	if name == "localhost" {
		return true
	}
	for _, allowed := range s.opt.Hosts {
		if strings.EqualFold(allowed, r.Host) || strings.EqualFold(allowed, name) {
			return true
		}
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	if addr.Unmap().IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, err := netip.ParseAddrPort(local.String())
	return err == nil && here.Addr().Unmap().WithZone("") == addr.Unmap().WithZone("")
}

// ownOrigin allows the node's own page and Options.Origins. Only the host is compared: behind a proxy that ends TLS the
// scheme differs, and Host has been checked.
func (s *Server) ownOrigin(r *http.Request, origin string) bool {
	if slices.Contains(s.opt.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
}

// preflight answers a browser's question about a call from an allowed origin of another address.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || w.Header().Get("Access-Control-Allow-Origin") == "" || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, Cairn-Index, Last-Event-ID")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// hostname is the name or address of a Host header, in lower case, without port and brackets.
func hostname(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// loopback tells whether the request came from this machine and was not passed on by a proxy.
func loopback(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback()
}

// pagePolicy allows the page its own files and connections and nothing else; nobody may frame it.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// secure sets the headers that go with every answer.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
