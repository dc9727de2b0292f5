package screeneval

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cairn/cmd/cairn-bench/trusteval/machine"
	"cairn/federation"
	"cairn/node/store"
)

const (
	jurors       = 12
	citingRounds = 7
)

// citations measures how long the state machine takes for an outcome that cites an item with few and with many citations.
// The two items take turns within a round, and a round is one batch of each.
func citations(ctx context.Context, o Options, out map[string]value) (note string, err error) {
	dir, err := os.MkdirTemp(o.Dir, "citation-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	few, err := openCited(filepath.Join(dir, "few"), 10)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, few.site.Close()) }()
	many, err := openCited(filepath.Join(dir, "many"), 10_000)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, many.site.Close()) }()
	batch := 1000
	if o.Quick {
		batch = 300
	}
	times := map[*cited][]float64{}
	for round := range citingRounds {
		for _, c := range []*cited{few, many} {
			us, err := c.cite(batch)
			if err != nil {
				return "", err
			}
			if round > 0 && ctx.Err() == nil { // the first one warms up
				times[c] = append(times[c], us)
			}
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	small, large := middle(times[few]), middle(times[many])
	out["citation_apply_us_10"], out["citation_apply_us_10000"] = small, large
	out["citation_apply_us"] = small
	if large.mid > small.mid {
		out["citation_apply_us"] = large
	}
	return fmt.Sprintf("citation_apply_us: median of %d rounds of %d outcomes in one batch, encoding and decoding of commands included; the item has %d jurors", citingRounds-1, batch, jurors), nil
}

func middle(list []float64) value {
	slices.Sort(list)
	return value{list[len(list)/2], list[0], list[len(list)-1]}
}

// cited is a site with one shared item.
type cited struct {
	site *machine.Site
	item store.ID
	n    int
}

func juror(i int) string { return fmt.Sprintf("juror-%02d", i%jurors) }

func openCited(dir string, citations int) (*cited, error) {
	site, err := machine.Open(dir, 1)
	if err != nil {
		return nil, err
	}
	c := &cited{site: site}
	if err := errors.Join(c.shelve(), c.fill(citations)); err != nil {
		return nil, errors.Join(err, site.Close())
	}
	return c, nil
}

// shelve enrols an author and its jury and brings one item to the shelf.
func (c *cited) shelve() error {
	for i := range jurors + 1 {
		name := juror(i)
		if i == jurors {
			name = "author"
		}
		body := store.Agent{ID: name, Principal: name, Roles: []string{"agent"}, Keys: []store.AgentKey{c.site.Key(name)}}
		if err := c.site.Do(store.KindCreateAgent, body, nil); err != nil {
			return err
		}
	}
	e := store.Experience{
		ID: c.site.NewID(), Agent: "author", Scenario: "a task", Content: "a lesson", TaskType: "bench", Kind: federation.KindDirect,
		Status: federation.StatusActive, Share: federation.ShareCandidate, Hash: sha256.Sum256([]byte("a lesson")),
	}
	v := store.Vectors{Vectors: []store.Vector{store.PackVector("bench", []float32{1}), store.PackVector("bench", []float32{1})}}
	if err := c.site.Do(store.KindAddExperience, store.AddExperience{Experience: e, Vectors: v}, nil); err != nil {
		return err
	}
	touched, err := c.site.Work()
	if err != nil {
		return err
	}
	return c.site.Read(func(v *store.View, ns *store.Namespace) error {
		for _, id := range touched {
			if x, err := v.Experience(ns, id); err != nil || x != nil && x.Shared() {
				c.item = id
				return err
			}
		}
		return errors.New("the item did not reach the shelf")
	})
}

func (c *cited) fill(n int) error {
	for n > 0 {
		part := min(n, 500)
		if _, err := c.cite(part); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// cite applies outcomes in one batch and returns the microseconds that one took.
func (c *cited) cite(n int) (float64, error) {
	c.site.Advance(c.site.Now() + 1000)
	for range n {
		c.n++
		body := store.Outcome{
			Receipt: store.Receipt{
				Recall: c.site.NewID(), Agent: juror(c.n), TaskType: "bench", At: c.site.Now(),
				Items: []store.ReceiptItem{{ID: c.item, Version: 1, Flags: store.FlagExploratory}},
			},
			Evidence: federation.EvidenceVerified, Success: c.n%2 == 0, Reward: federation.Micro((c.n+1)%2) * federation.One,
			Credits: []store.Credit{{ID: c.item, Version: 1, Credit: federation.One, Citation: c.site.NewID()}},
		}
		if err := c.site.Queue(store.KindOutcome, body); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	results, err := c.site.Flush()
	us := float64(time.Since(start).Nanoseconds()) / 1000 / float64(n)
	for _, r := range results {
		if err == nil && r.Reject != nil {
			err = r.Reject
		}
	}
	return us, err
}
