package index

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"cairn/index/embed"
)

const (
	mixedWriters = 4
	mixedIDs     = 50  // of each writer
	mixedSteps   = 400 // of each writer: some seconds under the race detector
)

// mixedMore says whether TestMixed goes on after its steps: until the time that CAIRN_MIXED gives, such as 60s, is up, or ten seconds under the
// race detector.
func mixedMore(t *testing.T) func() bool {
	t.Helper()
	given := os.Getenv("CAIRN_MIXED")
	if given == "" && raceEnabled && !testing.Short() {
		given = "10s"
	}
	if given == "" {
		return func() bool { return false }
	}
	d, err := time.ParseDuration(given)
	if err != nil {
		t.Fatalf("CAIRN_MIXED: %v", err)
	}
	end := time.Now().Add(d)
	return func() bool { return time.Now().Before(end) }
}

func mixedID(writer uint64, i int) string { return fmt.Sprintf("w%d-%02d", writer, i) }

// TestMixed writes, deletes, searches in every way, saves and loads one pool at once.
func TestMixed(t *testing.T) {
	p, more := NewPool(), mixedMore(t)
	defer p.Close()
	var all sync.WaitGroup
	for writer := range uint64(mixedWriters) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(writer, 77))
			for i := 0; i < mixedSteps || more(); i++ {
				mixedStep(t, p, r, writer)
			}
		})
	}
	all.Go(func() {
		for i := 0; i < 5 || more(); i++ {
			mixedSave(t, p)
		}
	})
	all.Wait()
	for writer := range uint64(mixedWriters) {
		for i := range mixedIDs {
			p.Delete(mixedID(writer, i))
		}
	}
	if p.Len() != 0 || p.keywords.Len() != 0 {
		t.Errorf("%d documents left, %d in the keyword index", p.Len(), p.keywords.Len())
	}
}

// mixedStep does one thing and checks what holds whatever the others do: a writer's own documents are as it left them.
func mixedStep(t *testing.T, p *Pool, r *rand.Rand, writer uint64) {
	id, word := mixedID(writer, r.IntN(mixedIDs)), fmt.Sprintf("only%d", writer)
	q := Query{Text: word, Vector: unit(r, embed.MiniLM), Limit: 1 + r.IntN(20), IgnoreFloor: true}
	switch r.IntN(7) {
	case 0, 1, 2:
		d := Doc{ID: id, Fields: text(word + " retry after limit"), Vectors: []embed.Vector{unit(r, embed.MiniLM), unit(r, embed.E5)}, Meta: id}
		if err := p.Put(d); err != nil {
			t.Error(err)
		}
		q.Vector, q.Limit = embed.Vector{}, mixedIDs
		if !mixedFinds(t, p, q, id) {
			t.Errorf("%s is not found after Put", id)
		}
		return
	case 3:
		p.Delete(id)
		if mixedFinds(t, p, q, id) {
			t.Errorf("%s is found after Delete", id)
		}
		return
	case 4:
		q.Filter = func(other string, meta any) bool { return other == id && meta == id }
	case 5:
		q.Among = []string{id, mixedID(writer, 0)}
	case 6:
		if _, err := p.Nearest(q.Vector, q.Limit, nil); err != nil {
			t.Error(err)
		}
	}
	mixedFinds(t, p, q, id)
}

func mixedFinds(t *testing.T, p *Pool, q Query, id string) (found bool) {
	hits, err := p.Search(context.Background(), q)
	if err != nil {
		t.Error(err)
	}
	for i, h := range hits {
		found = found || h.ID == id
		if h.Meta != h.ID || i > 0 && compareHits(hits[i-1], h) >= 0 {
			t.Errorf("hit %+v behind %+v", h, hits[max(0, i-1)])
		}
	}
	return found
}

func mixedSave(t *testing.T, p *Pool) {
	var b bytes.Buffer
	if err := p.Save(&b, Info{Generation: "g"}, encodeMeta); err != nil {
		t.Error(err)
		return
	}
	loaded, _, err := Load(&b, decodeMeta)
	if err != nil {
		t.Error(err)
		return
	}
	loaded.Close()
}
