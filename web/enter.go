package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"cairn/node/api"
)

const (
	maxBody   = 2 << 20
	maxDrain  = 8 << 20
	bodyLimit = 30 * time.Second // to receive a body
)

// entered is what the way in has found out about a request.
type entered struct {
	cred   credential
	caller api.Caller
	write  api.Write
}

type enteredKey struct{}

func enteredOf(ctx context.Context) *entered {
	e, _ := ctx.Value(enteredKey{}).(*entered)
	if e == nil {
		return &entered{}
	}
	return e
}

// enter asks for the key, reads the body and leaves both with the request. The key comes first: what nobody has signed for
// is not read.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, to routing) (*http.Request, *Problem) {
	e := &entered{cred: s.credential(r)}
	if !to.keyless && (!to.feed || e.cred.given || !websocketAsked(r)) {
		var p *Problem
		if e.caller, p = s.authenticate(r.Context(), e.cred); p != nil {
			return r, p
		}
	}
	if p := checkQuery(r.URL.RawQuery); p != nil {
		return r, p
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !to.upload {
		body, p := readBody(w, r)
		if p == nil {
			p = checkBody(r, body, to)
		}
		if p == nil {
			p = checkIdempotencyKey(r)
		}
		if p != nil {
			return r, p
		}
		e.write = api.Write{IdempotencyKey: r.Header.Get("Idempotency-Key"), BodyHash: requestHash(r, body)}
		r.Header.Set("Content-Type", "application/json") // checked; huma knows one spelling
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
	}
	return r.WithContext(context.WithValue(r.Context(), enteredKey{}, e)), nil
}

// readBody reads at most maxBody bytes. A larger body is read on to maxDrain and dropped, so that the client gets to read
// the answer instead of a reset; beyond that the connection is closed.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	tooLarge := problem(api.CodeTooLarge, fmt.Sprintf("the body is larger than %d bytes", maxBody), field("body", fmt.Sprintf("must have at most %d bytes", maxBody), nil))
	if r.ContentLength > maxBody && strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		w.Header().Set("Connection", "close") // the client waits for our word before it sends anything
		return nil, tooLarge
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(bodyLimit)) // not every ResponseWriter has deadlines
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		n, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxDrain-maxBody))
		if err != nil || n == maxDrain-maxBody {
			w.Header().Set("Connection", "close")
		}
		_ = rc.SetReadDeadline(time.Time{})
		return nil, tooLarge
	}
	_ = rc.SetReadDeadline(time.Time{})
	if err == nil {
		return body, nil
	}
	w.Header().Set("Connection", "close")
	p := malformed("body", "ends before it is complete")
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p = malformed("body", fmt.Sprintf("did not arrive within %v", bodyLimit))
		p.Status, p.Title = http.StatusRequestTimeout, "Timeout"
	}
	return nil, p
}

// checkBody looks at the media type and at the raw bytes.
func checkBody(r *http.Request, body []byte, to routing) *Problem {
	if len(bytes.TrimSpace(body)) == 0 {
		if to.body && !to.optional {
			return malformed("body", "is required")
		}
		return nil
	}
	if p := checkMediaType(r.Header); p != nil {
		return p
	}
	if f := checkJSON(body); f != nil {
		return f.problem()
	}
	if !to.body && string(bytes.TrimSpace(body)) != "{}" {
		return invalid("body", "must be empty: this call takes none", nil)
	}
	return nil
}

// checkMediaType accepts JSON in UTF-8. A body without a media type is taken as JSON.
func checkMediaType(h http.Header) *Problem {
	ok := true
	if given := h.Values("Content-Type"); len(given) > 0 {
		media, params, err := mime.ParseMediaType(given[0])
		charset := params["charset"]
		ok = err == nil && len(given) == 1 && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
	}
	if coding := h.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		ok = false
	}
	if ok {
		return nil
	}
	p := problem(api.CodeInvalid, "a body must be application/json in UTF-8, not encoded", field("header.Content-Type", "must be application/json", nil))
	p.Status, p.Title = http.StatusUnsupportedMediaType, "Unsupported media type"
	return p
}

func checkIdempotencyKey(r *http.Request) *Problem {
	given := r.Header.Values("Idempotency-Key")
	if len(given) == 0 {
		return nil
	}
	ok := len(given) == 1 && len(given[0]) >= 1 && len(given[0]) <= 128
	for i := 0; ok && i < len(given[0]); i++ {
		ok = given[0][i] > ' ' && given[0][i] < 0x7f
	}
	if !ok {
		return invalid("header.Idempotency-Key", "must be one value of 1..128 visible ASCII characters", nil)
	}
	return nil
}

// requestHash is the SHA-256 of method, path, query and body, each with its length before it so that no two requests
// run together to the same bytes. wait is left out: it says when to answer, not what to do.
func requestHash(r *http.Request, body []byte) [32]byte {
	q, _ := url.ParseQuery(r.URL.RawQuery) // checked by checkQuery
	q.Del("wait")
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.EscapedPath(), q.Encode()} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	h.Write(body)
	return [32]byte(h.Sum(nil))
}

// checkQuery refuses what url.ParseQuery or the parameter reader would skip in silence: broken escapes, empty values, a
// parameter that is there twice, and text that is not clean UTF-8. A parameter no route knows is refused later, by name.
func checkQuery(raw string) *Problem {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return malformed("query", "cannot be read: percent escapes must be complete and ';' escaped")
	}
	for name, values := range q {
		place := "query." + strings.ToValidUTF8(name, "\uFFFD")
		switch {
		case len(values) > 1:
			return invalid(place, "is there more than once", nil)
		case values[0] == "":
			return invalid(place, "must not be empty", nil)
		case !utf8.ValidString(name) || !utf8.ValidString(values[0]):
			return invalid(place, "is not valid UTF-8", nil)
		case strings.ContainsRune(values[0], 0):
			return invalid(place, "must not hold NUL characters", nil)
		}
	}
	return nil
}
