package embed

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// endpoint is a scripted embedding service: its vectors count the words of a text.
type endpoint struct {
	t    *testing.T
	url  string
	dims int

	mu       sync.Mutex
	requests [][]string
	pauses   []time.Duration
	answer   func(n int, texts []string, w http.ResponseWriter) bool // true: the answer is written
}

type oneEmbedding struct {
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

func newEndpoint(t *testing.T) *endpoint {
	e := &endpoint{t: t, dims: 64}
	s := httptest.NewServer(http.HandlerFunc(e.serve))
	t.Cleanup(s.Close)
	e.url = s.URL + "/v1"
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Input []string `json:"input"`
		Model string   `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Model != "words" || r.URL.Path != "/v1/embeddings" ||
		r.Header.Get("Authorization") != "Bearer secret" {
		e.t.Errorf("request to %s: %+v, %v", r.URL.Path, body, err)
	}
	e.mu.Lock()
	e.requests = append(e.requests, body.Input)
	n, answer, dims := len(e.requests), e.answer, e.dims
	e.mu.Unlock()
	if answer != nil && answer(n, body.Input, w) {
		return
	}
	list := make([]oneEmbedding, 0, len(body.Input))
	for i, text := range body.Input {
		list = append(list, oneEmbedding{i, wordVector(text, dims)})
	}
	slices.Reverse(list) // the place of a vector is its index, not its order
	writeEmbeddings(w, list)
}

func writeEmbeddings(w http.ResponseWriter, list []oneEmbedding) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": list})
}

func wordVector(text string, dims int) []float32 {
	v := make([]float32, dims)
	for _, word := range strings.Fields(text) {
		h := fnv.New32a()
		h.Write([]byte(word))
		v[h.Sum32()%uint32(dims)] += 3
	}
	return v
}

func (e *endpoint) options() RemoteOptions {
	return RemoteOptions{BaseURL: e.url + "/", Model: "words", Key: "secret"}
}

func (e *endpoint) open(o RemoteOptions) (*Remote, error) {
	r, err := newRemote(context.Background(), o, func(_ context.Context, d time.Duration) error {
		e.pauses = append(e.pauses, d)
		return nil
	})
	if r != nil {
		e.t.Cleanup(r.Close)
	}
	return r, err
}

func (e *endpoint) mustOpen(o RemoteOptions) *Remote {
	e.t.Helper()
	r, err := e.open(o)
	if err != nil {
		e.t.Fatal(err)
	}
	e.requests = nil
	return r
}

func TestRemoteLearnsItsModel(t *testing.T) {
	e := newEndpoint(t)
	r := e.mustOpen(e.options())
	p, ok := ProfileOf("openai:words@64")
	if !ok || p != r.Profile() || p.Dims != 64 || p.Floor <= 0 || p.Floor >= p.Strict || p.Strict > p.Duplicate {
		t.Errorf("profile %+v, known: %v", p, ok)
	}
	again := e.options()
	again.Profile = &p
	if r, err := e.open(again); err != nil || len(e.requests) != 0 || r.Profile() != p {
		t.Errorf("with a profile: %d requests, %v", len(e.requests), err)
	}
	p.ID = "openai:other@64"
	if _, err := e.open(again); !errors.Is(err, ErrRefused) {
		t.Errorf("the profile of another model: %v", err)
	}
}

func TestRemoteBatch(t *testing.T) {
	e := newEndpoint(t)
	o := e.options()
	o.Batch, o.MaxRunes = 2, 20
	r := e.mustOpen(o)
	long := strings.Repeat("one two three four ", 3)
	texts := []string{"alpha beta", "", " \t", "gamma", long, "alpha beta", "a\xffb"}
	got, err := r.EmbedBatch(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if blank := strings.TrimSpace(text) == ""; blank != got[i].IsZero() {
			t.Errorf("text %d has %d values", i, len(got[i].Values))
		} else if !blank {
			if got[i].Embedder != "openai:words@64" || math.Abs(cosine(got[i].Values, got[i].Values)-1) > 1e-6 {
				t.Errorf("text %d: %s, length %v", i, got[i].Embedder, cosine(got[i].Values, got[i].Values))
			}
		}
	}
	if want, err := (Vector{"x", wordVector("gamma", 64)}).Unit(); err != nil || cosine(got[3].Values, want.Values) < .9999 {
		t.Error("a vector is not that of its text")
	}
	for _, batch := range e.requests {
		for _, s := range batch {
			if len([]rune(s)) > 20 || len(batch) > 2 {
				t.Errorf("request %q", batch)
			}
		}
	}
	before := len(e.requests)
	if v, err := r.Embed(context.Background(), "gamma"); err != nil || !slices.Equal(v.Values, got[3].Values) || len(e.requests) != before {
		t.Errorf("a text that is known: %d requests more, %v", len(e.requests)-before, err)
	}
	if _, err := r.Embed(context.Background(), " \n"); !errors.Is(err, ErrBlank) {
		t.Errorf("a blank text: %v", err)
	}
}

func TestRemoteTriesAgain(t *testing.T) {
	e := newEndpoint(t)
	r := e.mustOpen(e.options())
	e.answer = func(n int, _ []string, w http.ResponseWriter) bool {
		switch n {
		case 1:
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusBadGateway)
		}
		return n < 3
	}
	if _, err := r.Embed(context.Background(), "gamma"); err != nil || len(e.requests) != 3 {
		t.Errorf("%d requests, %v", len(e.requests), err)
	}
	if len(e.pauses) != 2 || e.pauses[0] != 3*time.Second || e.pauses[1] <= 0 {
		t.Errorf("pauses %v", e.pauses)
	}
}

func TestRemoteFailures(t *testing.T) {
	const secretText = "confidential"
	vectors := func(list ...oneEmbedding) func(int, []string, http.ResponseWriter) bool {
		return func(_ int, _ []string, w http.ResponseWriter) bool { writeEmbeddings(w, list); return true }
	}
	status := func(code int) func(int, []string, http.ResponseWriter) bool {
		return func(_ int, texts []string, w http.ResponseWriter) bool {
			w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(`{"error":{"message":"cannot embed ` + texts[0] + `"}}`))
			return true
		}
	}
	one := wordVector("x", 64)
	for name, c := range map[string]struct {
		answer func(int, []string, http.ResponseWriter) bool
		want   error
		tries  int
	}{
		"down":          {status(503), ErrUnavailable, 3},
		"wrong key":     {status(401), ErrRefused, 1},
		"redirect":      {status(307), ErrRefused, 1},
		"no vector":     {vectors(), ErrRefused, 1},
		"two vectors":   {vectors(oneEmbedding{0, one}, oneEmbedding{1, one}), ErrRefused, 1},
		"wrong place":   {vectors(oneEmbedding{1, one}), ErrRefused, 1},
		"other size":    {vectors(oneEmbedding{0, one[:32]}), ErrRefused, 1},
		"no values":     {vectors(oneEmbedding{0, nil}), ErrRefused, 1},
		"length zero":   {vectors(oneEmbedding{0, make([]float32, 64)}), ErrRefused, 1},
		"not an answer": {func(_ int, _ []string, w http.ResponseWriter) bool { _, _ = w.Write([]byte("{")); return true }, ErrUnavailable, 3},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			r := e.mustOpen(e.options())
			e.answer = c.answer
			_, err := r.Embed(context.Background(), secretText)
			if !errors.Is(err, c.want) || len(e.requests) != c.tries {
				t.Errorf("%v after %d requests", err, len(e.requests))
			}
			if err != nil && strings.Contains(err.Error(), secretText) {
				t.Errorf("the error repeats the text: %v", err)
			}
		})
	}
}

func TestRemoteWithoutEndpoint(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	e := &endpoint{t: t}
	if _, err := e.open(RemoteOptions{BaseURL: s.URL, Model: "words"}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := e.open(RemoteOptions{BaseURL: s.URL}); !errors.Is(err, ErrRefused) {
		t.Errorf("no model: %v", err)
	}
	for _, base := range []string{"file:/tmp/vectors", "file:///tmp/vectors", "localhost:8080/v1", "http://", "http://a b/"} {
		if _, err := e.open(RemoteOptions{BaseURL: base, Model: "words"}); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "http") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestRemoteEndsWithItsContext(t *testing.T) {
	e := newEndpoint(t)
	r := e.mustOpen(e.options())
	ctx, cancel := context.WithCancel(context.Background())
	e.answer = func(int, []string, http.ResponseWriter) bool { cancel(); return false }
	if _, err := r.Embed(ctx, "gamma"); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := r.Embed(ctx, "delta"); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}

func TestCalibrationFindsTheEmbeddedProfiles(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range Profiles() {
		got, err := Calibrate(context.Background(), func(ctx context.Context, texts []string) ([]Vector, error) {
			out := make([]Vector, len(texts))
			for i, text := range texts {
				var err error
				if out[i], err = e.EmbedAs(ctx, want.ID, text); err != nil {
					return nil, err
				}
			}
			return out, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, pair := range map[string][3]float64{
			"floor": {got.Floor, want.Floor, .03}, "strict": {got.Strict, want.Strict, .03},
			"contrast": {got.Contrast, want.Contrast, .03}, "duplicate": {got.Duplicate, want.Duplicate, .1},
			"unrelated": {got.Unrelated, want.Unrelated, .07},
		} {
			if math.Abs(pair[0]-pair[1]) > pair[2] {
				t.Errorf("%s, %s: %.3f, chosen %.3f", want.ID, name, pair[0], pair[1])
			}
		}
	}
}

func TestEmbedAs(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.EmbedAs(context.Background(), E5, "an English text"); err != nil || v.Embedder != E5 {
		t.Errorf("%s, %v", v.Embedder, err)
	}
	if _, err := e.EmbedAs(context.Background(), "other", "text"); !errors.Is(err, ErrVector) {
		t.Errorf("an unknown encoder: %v", err)
	}
	if _, err := e.EmbedAs(context.Background(), E5, " "); !errors.Is(err, ErrBlank) {
		t.Errorf("a blank text: %v", err)
	}
}
