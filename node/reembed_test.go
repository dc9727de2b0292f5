package node

import (
	"context"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/store"
)

// wordEncoder counts words, as a model of another kind.
type wordEncoder struct{}

const wordEmbedder = "openai:node-test@32"

func (wordEncoder) Embedders() []string { return []string{wordEmbedder} }

func (wordEncoder) Embed(_ context.Context, text string) (embed.Vector, error) {
	v := embed.Vector{Embedder: wordEmbedder, Values: make([]float32, 32)}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New32a()
		h.Write([]byte(w))
		v.Values[h.Sum32()%32]++
	}
	return v.Unit()
}

func TestReembedWithoutAGap(t *testing.T) {
	embed.Register(embed.Profile{ID: wordEmbedder, Dims: 32, Floor: .5, Strict: .6, Duplicate: .99, Contrast: .5, CoverWeight: 1.5})
	s := newSite(t)
	ann := s.agent("ann", "alice")
	var ids []string
	for i := range 4 {
		ids = append(ids, s.add(ann, lesson(i), api.Write{}).Value.ID)
	}
	key := poolKey{0, 0}
	s.node.index.mu.RLock()
	for k := range s.node.index.pools {
		if k.owner != store.SharedOwner {
			key = k
		}
	}
	s.node.index.mu.RUnlock()

	s.stop()
	s.encoder = wordEncoder{}
	s.start()
	found := func(when string) {
		t.Helper()
		for i, id := range ids {
			// not a word in common: only a vector leads there
			got, err := s.node.Recall(context.Background(), ann, api.RecallRequest{Task: "give the money back to the buyer", Mode: "search"})
			if when == "after" {
				got, err = s.node.Recall(context.Background(), ann, api.RecallRequest{Task: lesson(i).Scenario, Mode: "search"})
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(got.Experiences, func(h api.Recalled) bool { return h.Experience.ID == id && h.Parts.Cosine > 0 }) {
				t.Errorf("%s: lesson %d is not found by its vector", when, i)
			}
		}
	}
	found("before")
	if _, err := s.node.Reembed(context.Background(), ann, true); codeOf(err) != api.CodeDenied {
		t.Errorf("an agent: %v", err)
	}
	look := s.reembed(true)
	if look.Experiences != 4 || look.Stale != 4 || look.Queued != 0 || !slices.Equal(look.Embedders, []string{wordEmbedder}) {
		t.Errorf("before: %+v", look)
	}
	if got := s.reembed(false); got.Queued != 4 {
		t.Errorf("queued: %+v", got)
	}
	for {
		changed := s.node.store.Changed()
		if s.reembed(true).Stale == 0 {
			break
		}
		<-changed
	}
	at, _ := s.node.store.Applied()
	if err := s.node.index.wait(context.Background(), at); err != nil {
		t.Fatal(err)
	}
	if got := s.node.index.pool(key).Embedders(); !slices.Equal(got, []string{wordEmbedder}) {
		t.Errorf("the index has vectors of %v", got)
	}
	found("after")
	if got := s.reembed(false); got.Queued != 0 || got.Stale != 0 {
		t.Errorf("a second time: %+v", got)
	}
}

func (s *site) reembed(dryRun bool) api.Reembedding {
	s.t.Helper()
	got, err := s.node.Reembed(context.Background(), s.admin, dryRun)
	if err != nil {
		s.t.Fatal(err)
	}
	return got.Value
}
