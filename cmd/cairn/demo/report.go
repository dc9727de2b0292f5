package demo

import (
	"context"
	"fmt"
	"time"

	"cairn/cmd/cairn/world"
	"cairn/node/api"
)

// Report is the outcome of a run, in the form in which `cairn demo --json` prints it.
type Report struct {
	Seed        uint64         `json:"seed"`
	Seconds     float64        `json:"seconds"`
	Tasks       int            `json:"tasks"`
	Arms        map[string]Arm `json:"arms"`
	Experiences Counts         `json:"experiences"`
	Liar        Liar           `json:"liar"`
	Promoted    []Promoted     `json:"promoted"`
	Example     *Example       `json:"example"`

	// SharedKey is the admin key of the namespace with the shared memory. It is never printed.
	SharedKey string `json:"-"`
}

// Arm is the success of the honest agents, with 95 % Wilson intervals over their tasks.
type Arm struct {
	Success   float64       `json:"success"`
	Low       float64       `json:"low"`
	High      float64       `json:"high"`
	Quarters  [4]float64    `json:"quarters"`
	Intervals [4][2]float64 `json:"quarter_intervals"`
}

// Counts says what became of what the shared namespace distilled. Recorded are the private experiences that are there,
// Buffered those of them that wait in the gate's buffer; Discarded counts what was not kept, Candidates every copy that
// was put on the shelf, Promoted those in the meta-pool at the end, Demoted those that have left it again.
type Counts struct {
	Recorded   int `json:"recorded"`
	Buffered   int `json:"buffered"`
	Discarded  int `json:"discarded"`
	Candidates int `json:"candidates"`
	Promoted   int `json:"promoted"`
	Demoted    int `json:"demoted"`
}

// Liar counts the harmful advice: on the shelf, promoted at any time, and in the meta-pool at the end.
type Liar struct {
	Candidates   int `json:"candidates"`
	EverPromoted int `json:"ever_promoted"`
	Promoted     int `json:"promoted"`
}

// Promoted is one item of the meta-pool with the terms it was judged by.
type Promoted struct {
	ID       string          `json:"id"`
	Author   string          `json:"author"`
	TaskType string          `json:"task_type"`
	Content  string          `json:"content"`
	Trust    api.TrustDetail `json:"trust"`
}

// Example is one promoted experience in full.
type Example struct {
	ID      string          `json:"id"`
	Content string          `json:"content"`
	Trust   api.TrustDetail `json:"trust"`
	Lineage api.Graph       `json:"lineage"`
}

func newArm(t world.Table) Arm {
	a := Arm{Success: t.All.Success, Low: t.All.Low, High: t.All.High}
	for i, q := range t.Quarters {
		a.Quarters[i] = q.Success
		a.Intervals[i] = [2]float64{q.Low, q.High}
	}
	return a
}

// fill reads what the shared namespace holds once its background work is done.
func (n *namespace) fill(ctx context.Context, r *Report) error {
	stats, err := n.settled(ctx)
	if err != nil {
		return err
	}
	r.Experiences = Counts{Discarded: sum(stats.Discarded)}
	if err := n.countPrivate(ctx, r); err != nil {
		return fmt.Errorf("list experiences: %w", err)
	}
	if err := n.countPromotions(ctx, r); err != nil {
		return fmt.Errorf("list promotions: %w", err)
	}
	if err := n.listMeta(ctx, r); err != nil {
		return fmt.Errorf("list meta-pool: %w", err)
	}
	return n.example(ctx, r)
}

// settled waits until no job is queued or under way.
func (n *namespace) settled(ctx context.Context) (api.Stats, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		stats, err := n.admin.Stats(ctx)
		if err != nil {
			return stats, err
		}
		if stats.Jobs["queued"]+stats.Jobs["leased"] == 0 {
			return stats, nil
		}
		select {
		case <-ctx.Done():
			return stats, fmt.Errorf("jobs are still under way: %v", stats.Jobs)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func sum(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// pages calls f for every item of a paged list.
func pages[T any](list func(api.Page) (api.List[T], error), f func(T)) error {
	p := api.Page{Limit: 500}
	for {
		l, err := list(p)
		if err != nil {
			return err
		}
		for _, it := range l.Items {
			f(it)
		}
		if l.NextCursor == nil {
			return nil
		}
		p.Cursor = *l.NextCursor
	}
}

func (n *namespace) countPrivate(ctx context.Context, r *Report) error {
	liars := liars()
	return pages(func(p api.Page) (api.List[api.Experience], error) {
		return n.admin.Experiences(ctx, api.ListFilter{Page: p})
	}, func(e api.Experience) {
		if e.Pool != "agent:"+e.Author.Agent {
			return
		}
		r.Experiences.Recorded++
		if e.Status == "buffered" {
			r.Experiences.Buffered++
		}
		if e.CandidateID == "" {
			return
		}
		r.Experiences.Candidates++
		if liars[e.Author.Agent] {
			r.Liar.Candidates++
		}
	})
}

func (n *namespace) countPromotions(ctx context.Context, r *Report) error {
	liars := liars()
	ever := map[string]bool{}
	err := pages(func(p api.Page) (api.List[api.Promotion], error) {
		return n.admin.Promotions(ctx, "", p)
	}, func(p api.Promotion) {
		if p.Action == "demote" {
			r.Experiences.Demoted++
		}
		if p.Action == "promote" && liars[p.Author.Agent] {
			ever[p.Experience] = true
		}
	})
	r.Liar.EverPromoted = len(ever)
	return err
}

func (n *namespace) listMeta(ctx context.Context, r *Report) error {
	liars := liars()
	r.Promoted = []Promoted{}
	err := pages(func(p api.Page) (api.List[api.Experience], error) {
		return n.admin.Meta(ctx, api.ListFilter{Page: p})
	}, func(e api.Experience) {
		if e.Status != "promoted" {
			return
		}
		r.Promoted = append(r.Promoted, Promoted{ID: e.ID, Author: e.Author.Agent, TaskType: e.TaskType, Content: e.Content})
		if liars[e.Author.Agent] {
			r.Liar.Promoted++
		}
	})
	if err != nil {
		return err
	}
	r.Experiences.Promoted = len(r.Promoted)
	for i := range r.Promoted {
		if r.Promoted[i].Trust, err = n.admin.Trust(ctx, r.Promoted[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// example takes the promoted item with the most trust.
func (n *namespace) example(ctx context.Context, r *Report) error {
	best := -1
	for i, p := range r.Promoted {
		if best < 0 || p.Trust.Trust.Value > r.Promoted[best].Trust.Trust.Value {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	p := r.Promoted[best]
	lineage, err := n.admin.Provenance(ctx, p.ID)
	if err != nil {
		return fmt.Errorf("provenance of %s: %w", p.ID, err)
	}
	r.Example = &Example{ID: p.ID, Content: p.Content, Trust: p.Trust, Lineage: lineage}
	return nil
}

func liars() map[string]bool {
	out := map[string]bool{}
	for _, a := range world.Fleet() {
		if a.Liar {
			out[a.ID] = true
		}
	}
	return out
}
