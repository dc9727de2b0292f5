package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"cairn/node/api"
)

// maxAnswerBytes bounds what is read of one answer.
const maxAnswerBytes = 64 << 20

// Client talks to one node.
type Client struct {
	base        *url.URL
	key         string
	http        *http.Client
	attempts    int
	session     bool
	consistency string
	agent       string
	wait        func(ctx context.Context, d time.Duration) error

	index atomic.Uint64
}

// Option changes a Client.
type Option func(*Client)

// WithHTTPClient sets the HTTP client. The default has no time limit of its own (the context has) and follows no redirect.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithAttempts sets how often a request is sent before its error is returned: on a connection error and on 503.
// The default is 4; 1 turns repeating off.
func WithAttempts(n int) Option { return func(c *Client) { c.attempts = max(n, 1) } }

// WithSession sends the highest Cairn-Index seen with every read, so that this client reads its own writes on any node.
func WithSession() Option { return func(c *Client) { c.session = true } }

// WithConsistency sets what every read asks for: local, session or linear. The default leaves it to the server.
func WithConsistency(level string) Option { return func(c *Client) { c.consistency = level } }

// WithUserAgent sets the User-Agent header; the default is cairn-client.
func WithUserAgent(s string) Option { return func(c *Client) { c.agent = s } }

// New makes a client for the node at baseURL (http://127.0.0.1:8750; a bare host:port means http) with an API key. An
// empty key is allowed: only the calls outside /v1 answer then.
func New(baseURL, key string, opts ...Option) (*Client, error) {
	if !strings.Contains(baseURL, "://") {
		baseURL = "http://" + baseURL
	}
	u, err := url.Parse(strings.TrimRight(baseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("base address: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("base address %q: want http:// or https:// and a host", baseURL)
	}
	c := &Client{base: u, key: key, attempts: 4, agent: "cairn-client", wait: waitFor}
	c.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, o := range opts {
		o(c)
	}
	return c, nil
}

// Index is the highest Cairn-Index seen in any answer: the session token.
func (c *Client) Index() uint64 { return c.index.Load() }

// SetIndex raises the session token, for example to one kept from an earlier process. A lower one changes nothing.
func (c *Client) SetIndex(n uint64) {
	for {
		have := c.index.Load()
		if n <= have || c.index.CompareAndSwap(have, n) {
			return
		}
	}
}

type keyOfWrite struct{}

// WithIdempotencyKey makes the next write under ctx use this key (1..128 visible ASCII characters) instead of a fresh one.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfWrite{}, key)
}

// call is one request before it is sent.
type call struct {
	method string
	path   string
	query  url.Values
	header http.Header
	body   any
	write  bool
}

// answer is what came back, read to the end.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	index    uint64
	replayed bool
}

// send sends the call, again where that is safe, and returns the first answer that is not a passing failure.
func (c *Client) send(ctx context.Context, k call) (answer, error) {
	var body []byte
	if k.body != nil {
		var err error
		if body, err = json.Marshal(k.body); err != nil {
			return answer{}, fmt.Errorf("%s %s: encode body: %w", k.method, k.path, err)
		}
	}
	key := ""
	if k.write {
		key = idempotencyKey(ctx)
	}
	for try := 1; ; try++ {
		a, err := c.once(ctx, k, body, key)
		if err == nil && a.status < 400 {
			return a, nil
		}
		pause, again := backoff(try), passing(err)
		if err == nil {
			err = decodeError(a)
			pause, again = retryAfter(a, pause), a.status == http.StatusServiceUnavailable
		} else {
			err = fmt.Errorf("%s %s: %w", k.method, k.path, err)
		}
		if !again || try >= c.attempts || ctx.Err() != nil {
			return answer{}, err
		}
		if c.wait(ctx, pause) != nil {
			return answer{}, err
		}
	}
}

func (c *Client) once(ctx context.Context, k call, body []byte, key string) (answer, error) {
	req, err := c.request(ctx, k, body, key)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes)); err != nil {
		return answer{}, err
	}
	a.index, _ = strconv.ParseUint(resp.Header.Get("Cairn-Index"), 10, 64)
	a.replayed = resp.Header.Get("Idempotent-Replay") == "true"
	c.SetIndex(a.index)
	return a, nil
}

func (c *Client) request(ctx context.Context, k call, body []byte, key string) (*http.Request, error) {
	u := c.base.String() + k.path
	if !k.write {
		k.query = c.reading(k.query)
	}
	if len(k.query) > 0 {
		u += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, u, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, values := range k.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", c.agent)
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "application/json")
	}
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	if !k.write && c.session && c.Index() > 0 {
		req.Header.Set("Cairn-Index", strconv.FormatUint(c.Index(), 10))
	}
	return req, nil
}

// reading adds the consistency that reads ask for.
func (c *Client) reading(q url.Values) url.Values {
	if c.consistency == "" {
		return q
	}
	out := url.Values{"consistency": {c.consistency}}
	for name, values := range q {
		out[name] = values
	}
	return out
}

// read sends a read and decodes its answer.
func read[T any](ctx context.Context, c *Client, k call) (T, error) {
	var v T
	a, err := c.send(ctx, k)
	if err != nil {
		return v, err
	}
	return v, decode(k, a, &v)
}

// get is a read of one path.
func get[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	return read[T](ctx, c, call{method: http.MethodGet, path: path, query: q})
}

// write sends a write and decodes its answer.
func write[T any](ctx context.Context, c *Client, k call) (api.Done[T], error) {
	k.write = true
	a, err := c.send(ctx, k)
	if err != nil {
		return api.Done[T]{}, err
	}
	done := api.Done[T]{Index: a.index, Replayed: a.replayed, Status: a.status}
	return done, decode(k, a, &done.Value)
}

func decode(k call, a answer, into any) error {
	if len(a.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("%s %s: decode answer: %w", k.method, k.path, err)
	}
	return nil
}

func idempotencyKey(ctx context.Context) string {
	if k, ok := ctx.Value(keyOfWrite{}).(string); ok && k != "" {
		return k
	}
	return rand.Text()
}

// path joins segments below /v1, each escaped.
func path(segments ...string) string {
	var b strings.Builder
	b.WriteString("/v1")
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(url.PathEscape(s))
	}
	return b.String()
}

// backoff doubles from 100 ms to 2 s.
func backoff(try int) time.Duration {
	return min(100*time.Millisecond<<min(try-1, 5), 2*time.Second)
}

func waitFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// passing tells an error of the connection that another try may not meet.
func passing(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !certificate(err)
}
