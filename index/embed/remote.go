package embed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	openai "github.com/sashabaranov/go-openai"
)

var (
	// ErrUnavailable says that the endpoint did not answer, or that it cannot now. Trying later may help.
	ErrUnavailable = errors.New("embedding endpoint is not available")
	// ErrRefused says that the endpoint refuses the request for good (key, model name), or that what it answers are not vectors
	// of its model. Trying again does not help.
	ErrRefused = errors.New("embedding endpoint refuses the request")
)

// RemoteOptions name a model behind an OpenAI-compatible /embeddings call.
type RemoteOptions struct {
	BaseURL string // up to and without "/embeddings", e.g. http://127.0.0.1:8080/v1
	Model   string
	Key     string // bearer key; may be empty
	// Timeout bounds one request. Default 20 s.
	Timeout time.Duration
	// Batch is the greatest number of texts of a request. Default 64.
	Batch int
	// MaxRunes is the length from which a text is cut into chunks, whose mean is its vector. Default 4,000 characters.
	MaxRunes int
	// Tries is how often a request is made when the endpoint cannot answer. Default 3.
	Tries int
	// CacheSize is the number of vectors kept by the hash of their text. Default 4096; negative: no cache.
	CacheSize int
	// Profile is what an earlier probe of this model found. With it, NewRemote asks nothing.
	Profile *Profile
}

// EnsureDefaults replaces zero values by the defaults.
func (o *RemoteOptions) EnsureDefaults() {
	if o.Timeout <= 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Batch <= 0 {
		o.Batch = 64
	}
	if o.MaxRunes <= 0 {
		o.MaxRunes = 4000
	}
	if o.Tries <= 0 {
		o.Tries = 3
	}
	if o.CacheSize == 0 {
		o.CacheSize = 4096
	}
}

const (
	maxEmbeddingAnswer = 64 << 20 // bytes
	maxRemoteDims      = 8192
	firstPause         = 200 * time.Millisecond
	longestPause       = 10 * time.Second
)

// Remote turns text into vectors by a model behind an OpenAI-compatible endpoint. It is safe for concurrent use.
type Remote struct {
	opts    RemoteOptions
	client  *openai.Client
	http    *http.Client
	cache   *cache
	profile Profile
	pause   func(context.Context, time.Duration) error
}

// NewRemote makes an encoder of a remote model. Unless the options bring a profile, it asks the model once for the vectors
// of a fixed set of texts, learns the number of dimensions and calibrates the profile by them. The profile is registered,
// so that ProfileOf knows it. It returns ErrUnavailable or ErrRefused.
func NewRemote(ctx context.Context, o RemoteOptions) (*Remote, error) {
	return newRemote(ctx, o, sleep)
}

func newRemote(ctx context.Context, o RemoteOptions, pause func(context.Context, time.Duration) error) (*Remote, error) {
	o.EnsureDefaults()
	if o.BaseURL == "" || o.Model == "" {
		return nil, fmt.Errorf("%w: base URL and model are needed", ErrRefused)
	}
	if u, err := url.Parse(o.BaseURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("%w: the base URL must be one of http or https (vectors from a file are for benchmarks only)", ErrRefused)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
	r := &Remote{opts: o, cache: newCache(o.CacheSize), pause: pause, http: &http.Client{
		Transport: transport,
		// a redirect would carry texts and key elsewhere
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	cfg := openai.DefaultConfig(o.Key)
	cfg.BaseURL, cfg.HTTPClient = strings.TrimRight(o.BaseURL, "/"), limited{r.http}
	r.client = openai.NewClientWithConfig(cfg)
	if err := r.learn(ctx); err != nil {
		r.Close()
		return nil, fmt.Errorf("probe embedding model %s: %w", o.Model, err)
	}
	Register(r.profile)
	return r, nil
}

// learn takes the given profile or calibrates one.
func (r *Remote) learn(ctx context.Context) error {
	if p := r.opts.Profile; p != nil {
		if p.ID != remoteID(r.opts.Model, p.Dims) {
			return fmt.Errorf("%w: the profile belongs to %s", ErrRefused, p.ID)
		}
		r.profile = *p
		return nil
	}
	var err error
	r.profile, err = Calibrate(ctx, func(ctx context.Context, texts []string) ([]Vector, error) {
		values, err := r.ask(ctx, texts)
		if err != nil {
			return nil, err
		}
		out := make([]Vector, len(values))
		for i, v := range values {
			if out[i], err = (Vector{remoteID(r.opts.Model, len(v)), v}).Unit(); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrRefused, err)
			}
		}
		return out, nil
	})
	return err
}

// remoteID is the embedder id of a remote model. The number of dimensions is part of it: some models offer several.
func remoteID(model string, dims int) string { return fmt.Sprintf("openai:%s@%d", model, dims) }

// limited cuts answers, so that an endpoint cannot fill the memory.
type limited struct{ http *http.Client }

func (l limited) Do(req *http.Request) (*http.Response, error) {
	res, err := l.http.Do(req)
	if err != nil {
		return nil, err
	}
	if after, ok := req.Context().Value(retryAfter{}).(*string); ok {
		*after = res.Header.Get("Retry-After")
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxEmbeddingAnswer), res.Body}
	return res, nil
}

// retryAfter carries the header of a failed answer through the request's context.
type retryAfter struct{}

// Profile returns what was learned about the model.
func (r *Remote) Profile() Profile { return r.profile }

// Embedders lists the ids of the vectors that this encoder makes: one.
func (r *Remote) Embedders() []string { return []string{r.profile.ID} }

// Close drops idle connections.
func (r *Remote) Close() { r.http.CloseIdleConnections() }

// Embed returns the vector of a text. It returns ErrBlank for a text without anything to embed, else ErrUnavailable,
// ErrRefused or the end of ctx.
func (r *Remote) Embed(ctx context.Context, text string) (Vector, error) {
	out, err := r.EmbedBatch(ctx, []string{text})
	if err != nil {
		return Vector{}, err
	}
	if out[0].IsZero() {
		return Vector{}, ErrBlank
	}
	return out[0], nil
}

// EmbedBatch returns the vectors of texts, the zero Vector for a blank one. Texts are sent in requests of at most
// RemoteOptions.Batch.
func (r *Remote) EmbedBatch(ctx context.Context, texts []string) ([]Vector, error) {
	out := make([]Vector, len(texts))
	var chunks []string
	var ends, missing []int
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if values, ok := r.cache.get(keyOf(r.profile.ID, text)); ok {
			out[i] = Vector{r.profile.ID, values}
			continue
		}
		chunks = append(chunks, cut(strings.ToValidUTF8(text, "\uFFFD"), r.opts.MaxRunes)...)
		ends, missing = append(ends, len(chunks)), append(missing, i)
	}
	values := make([][]float32, 0, len(chunks))
	for batch := range slices.Chunk(chunks, r.opts.Batch) {
		got, err := r.ask(ctx, batch)
		if err != nil {
			return nil, fmt.Errorf("embed: %w", err)
		}
		values = append(values, got...)
	}
	start := 0
	for j, i := range missing {
		v, err := r.vector(values[start:ends[j]])
		if err != nil {
			return nil, fmt.Errorf("embed: text %d: %w", i, err)
		}
		start = ends[j]
		r.cache.put(keyOf(r.profile.ID, texts[i]), v.Values)
		out[i] = v
	}
	return out, nil
}

// vector is the unit mean of a text's chunks.
func (r *Remote) vector(chunks [][]float32) (Vector, error) {
	sum := make([]float32, r.profile.Dims)
	for _, c := range chunks {
		if len(c) != r.profile.Dims {
			return Vector{}, fmt.Errorf("%w: %d values, the model had %d", ErrRefused, len(c), r.profile.Dims)
		}
		unit, err := Vector{r.profile.ID, c}.Unit()
		if err != nil {
			return Vector{}, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		for i, x := range unit.Values {
			sum[i] += x
		}
	}
	v, err := Vector{r.profile.ID, sum}.Unit()
	if err != nil {
		return Vector{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return v, nil
}

// cut divides a text into chunks of equal length, at most limit runes and at most MaxChunks: what is beyond is left out.
func cut(text string, limit int) []string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return []string{text}
	}
	runes := []rune(text)
	runes = runes[:min(len(runes), limit*MaxChunks)]
	parts := (len(runes) + limit - 1) / limit
	size := (len(runes) + parts - 1) / parts
	var out []string
	for c := range slices.Chunk(runes, size) {
		if s := string(c); strings.TrimSpace(s) != "" {
			out = append(out, s)
		}
	}
	return out
}

// ask makes one request, and makes it again when the endpoint cannot answer now.
func (r *Remote) ask(ctx context.Context, texts []string) ([][]float32, error) {
	wait := firstPause
	for try := 1; ; try++ {
		values, after, err := r.once(ctx, texts)
		if err == nil || !errors.Is(err, ErrUnavailable) || try >= r.opts.Tries {
			return values, err
		}
		if err := r.pause(ctx, max(wait, min(after, longestPause))); err != nil {
			return nil, err
		}
		wait *= 2
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once makes one request and checks the answer: as many vectors as texts, each in its place, all of one length.
func (r *Remote) once(parent context.Context, texts []string) ([][]float32, time.Duration, error) {
	var header string
	ctx, cancel := context.WithTimeout(context.WithValue(parent, retryAfter{}, &header), r.opts.Timeout)
	defer cancel()
	res, err := r.client.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{Input: texts, Model: openai.EmbeddingModel(r.opts.Model)})
	if err != nil {
		return nil, seconds(header), r.failure(parent, err)
	}
	if len(res.Data) != len(texts) {
		return nil, 0, fmt.Errorf("%w: %d vectors for %d texts", ErrRefused, len(res.Data), len(texts))
	}
	out := make([][]float32, len(texts))
	for _, d := range res.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil {
			return nil, 0, fmt.Errorf("%w: a vector has the place %d of %d", ErrRefused, d.Index, len(texts))
		}
		if len(d.Embedding) == 0 || len(d.Embedding) > maxRemoteDims || len(d.Embedding) != len(res.Data[0].Embedding) {
			return nil, 0, fmt.Errorf("%w: a vector of %d values", ErrRefused, len(d.Embedding))
		}
		out[d.Index] = d.Embedding
	}
	return out, 0, nil
}

func seconds(header string) time.Duration {
	n, err := strconv.Atoi(header)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, int(longestPause/time.Second))) * time.Second
}

// failure says what a caller can act on. Messages of the endpoint are left out: they may repeat the text.
func (r *Remote) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	status := 0
	var api *openai.APIError
	var req *openai.RequestError
	switch {
	case errors.As(err, &api):
		status = api.HTTPStatusCode
	case errors.As(err, &req):
		status = req.HTTPStatusCode
	}
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status >= 500:
		return fmt.Errorf("%w: status %d", ErrUnavailable, status)
	case status >= 300:
		return fmt.Errorf("%w: status %d", ErrRefused, status)
	}
	return fmt.Errorf("%w: no readable answer", ErrUnavailable)
}
