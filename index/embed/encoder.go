package embed

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Options configure an Encoder. The zero value is ready to use.
type Options struct {
	// Workers is how many texts of EmbedBatch are encoded at once by one Encoder. Default and at most: half the cores, at
	// least 1. Embed has as many slots of its own, which bulk work cannot take.
	Workers int
	// CacheSize is the number of vectors kept by the hash of their text (1.5 KiB each). Default 4096; negative: no cache.
	CacheSize int
}

// EnsureDefaults replaces zero values by the defaults.
func (o *Options) EnsureDefaults() {
	half := max(1, runtime.GOMAXPROCS(0)/2)
	if o.Workers <= 0 || o.Workers > half {
		o.Workers = half
	}
	if o.CacheSize == 0 {
		o.CacheSize = 4096
	}
}

// Encoder turns text into vectors. It is safe for concurrent use and holds no goroutines. Weights are loaded on first use
// and shared by all encoders of the process.
type Encoder struct {
	cache   *cache
	slots   *slots
	workers int // of a batch
}

// New returns an encoder. It loads nothing yet.
func New(opts Options) (*Encoder, error) {
	opts.EnsureDefaults()
	return &Encoder{
		cache:   newCache(opts.CacheSize),
		slots:   &slots{total: 2 * opts.Workers, bulk: opts.Workers},
		workers: opts.Workers,
	}, nil
}

// Embed returns the vector of text by the encoder that Choose names. A text longer than the encoder's MaxTokens is cut into
// chunks, at most MaxChunks, and its vector is their mean. The end of ctx is honoured while waiting and between layers. The
// values may be shared with other callers and must not be changed. It returns ErrBlank for a text without anything to embed.
func (e *Encoder) Embed(ctx context.Context, text string) (Vector, error) {
	return e.embedBy(ctx, Choose(text), text)
}

func (e *Encoder) embedBy(ctx context.Context, id, text string) (Vector, error) {
	if strings.TrimSpace(text) == "" {
		return Vector{}, ErrBlank
	}
	key := keyOf(id, text)
	if values, ok := e.cache.get(key); ok {
		return Vector{id, values}, nil
	}
	m, err := modelOf(id)
	if err != nil {
		return Vector{}, fmt.Errorf("embed: %w", err)
	}
	if err := e.slots.acquire(ctx, false); err != nil {
		return Vector{}, fmt.Errorf("embed: %w", err)
	}
	defer e.slots.release(false)
	values, err := m.vector(ctx, text)
	if err != nil {
		return Vector{}, fmt.Errorf("embed: %w", err)
	}
	e.cache.put(key, values)
	return Vector{id, values}, nil
}

// Embedders lists the ids of the vectors that this encoder makes.
func (e *Encoder) Embedders() []string { return []string{MiniLM, E5} }

// EmbedAs is Embed by a named one of the embedded encoders, whatever the script of the text. It returns ErrVector for an id
// that is none of theirs.
func (e *Encoder) EmbedAs(ctx context.Context, id, text string) (Vector, error) {
	if !slices.Contains(e.Embedders(), id) {
		return Vector{}, fmt.Errorf("%w: %q is not an embedded encoder", ErrVector, id)
	}
	return e.embedBy(ctx, id, text)
}
