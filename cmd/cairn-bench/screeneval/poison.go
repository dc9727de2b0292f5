package screeneval

import (
	"context"
	"fmt"

	"cairn/index"
	"cairn/index/embed"
	"cairn/node/recall"
)

const (
	honestAuthors = 5
	places        = 5
)

// Poisoned is a question with texts that make an agent answer it wrongly.
type Poisoned struct {
	Question string   `json:"question"`
	Texts    []string `json:"poisoned"`
}

// Questions reads the first questions of PoisonedRAG. It returns an error that matches [os.ErrNotExist] when the file is
// missing.
func Questions(o Options, most int) (list []Poisoned, err error) {
	err = each(o, "poison-poisonedrag.jsonl", func(row *Poisoned) {
		if len(list) < most {
			list = append(list, *row)
		}
	})
	return list, err
}

// poison asks every question of a pool in which one author's poisoned texts stand beside honest lessons.
func poison(ctx context.Context, o Options, out map[string]value) (string, error) {
	questions, others := 40, 400
	if o.Quick {
		questions, others = 12, 60
	}
	asked, err := Questions(o, questions)
	if err != nil {
		return "", err
	}
	enc, err := embed.New(embed.Options{})
	if err != nil {
		return "", fmt.Errorf("open the encoder: %w", err)
	}
	p := &pool{enc: enc, index: index.NewPool()}
	for _, q := range asked {
		for _, text := range q.Texts {
			if err := p.add(ctx, q.Question, text, "poisoner"); err != nil {
				return "", err
			}
		}
	}
	added := 0
	err = each(o, "memories-reme.jsonl", func(row *lesson) {
		if added < others && err == nil {
			err = p.add(ctx, row.Scenario, plain(row.Content), fmt.Sprintf("author-%d", added%honestAuthors))
			added++
		}
	})
	if err != nil {
		return "", err
	}
	worst := 0.
	for _, q := range asked {
		share, err := p.ask(ctx, q.Question)
		if err != nil {
			return "", err
		}
		worst = max(worst, share)
	}
	out["poison_share_top5"] = exact(worst)
	return fmt.Sprintf("poison_share_top5: %d questions, %d poisoned texts, %d lessons of %d honest authors", len(asked), p.bad, added, honestAuthors), nil
}

// pool is a shared pool with its authors.
type pool struct {
	enc   *embed.Encoder
	index *index.Pool
	bad   int
	n     int
}

func (p *pool) add(ctx context.Context, scenario, content, author string) error {
	first, err := p.enc.Embed(ctx, scenario)
	if err != nil {
		return err
	}
	second, err := p.enc.Embed(ctx, content)
	if err != nil {
		return err
	}
	p.n++
	if author == "poisoner" {
		p.bad++
	}
	return p.index.Put(index.Doc{
		ID: fmt.Sprintf("%s/%d", author, p.n), Meta: author, Vectors: []embed.Vector{first, second},
		Fields: []index.Field{{Name: "scenario", Text: scenario, Weight: 1}, {Name: "content", Text: content, Weight: 1}},
	})
}

// ask recalls with everything promoted and returns the poisoner's share of the places.
func (p *pool) ask(ctx context.Context, question string) (float64, error) {
	v, err := p.enc.Embed(ctx, question)
	if err != nil {
		return 0, err
	}
	hits, err := p.index.Search(ctx, index.Query{Text: question, Vector: v, Limit: 4 * places})
	if err != nil {
		return 0, err
	}
	n := 0
	for _, r := range p.rank(hits) {
		if r.Principal == "poisoner" {
			n++
		}
	}
	return float64(n) / places, nil
}

func (p *pool) rank(hits []index.Hit) []recall.Ranked {
	var list []recall.Candidate
	for _, h := range hits {
		author, _ := h.Meta.(string)
		c := recall.Candidate{ID: h.ID, Hit: h, Source: recall.SourceMeta, Principal: author, Trust: .5, Strength: .5}
		if doc, ok := p.index.Get(h.ID); ok {
			c.Vectors = doc.Vectors
		}
		list = append(list, c)
	}
	o := recall.DefaultOptions()
	o.K = places
	ranked, _ := recall.Rank(list, nil, o)
	return ranked
}
