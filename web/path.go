package web

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"cairn/node/api"
)

// plainPath tells whether a decoded path has no dot segment, no empty segment and no control character. Such paths are
// answered 404 before the mux sees them: the mux would redirect them, and a redirect lets two spellings name one thing.
func plainPath(p string) bool {
	if p == "/" {
		return true
	}
	if !strings.HasPrefix(p, "/") || !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl) {
		return false
	}
	for segment := range strings.SplitSeq(p[1:], "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// unrouted answers for what the mux has no pattern for, after asking its handler whether another method would do.
func unrouted(w http.ResponseWriter, r *http.Request, h http.Handler) {
	ask := &asked{header: http.Header{}}
	h.ServeHTTP(ask, r)
	if ask.status == http.StatusMethodNotAllowed {
		w.Header()["Allow"] = ask.header["Allow"]
		p := problem(api.CodeInvalid, "method "+method(r)+" is not offered here; the Allow header names those that are")
		p.Status, p.Title = ask.status, "Method not allowed"
		p.write(w)
		return
	}
	problem(api.CodeNotFound, "no such path").write(w)
}

// asked keeps the status and headers of an answer and drops its body.
type asked struct {
	header http.Header
	status int
}

func (a *asked) Header() http.Header         { return a.header }
func (a *asked) WriteHeader(status int)      { a.status = status }
func (a *asked) Write(b []byte) (int, error) { return len(b), nil }

// method is the request's method if it is one that is well known, so that nothing of the client's making is shown.
func method(r *http.Request) string {
	switch r.Method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE":
		return r.Method
	}
	return "other"
}
