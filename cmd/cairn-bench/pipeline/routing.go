package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/recall"
)

// perDomain bounds the tasks of a domain in a quick run.
const perDomain = 40

// routing remembers half of the tasks of every domain and asks where the others belong.
func (r *runner) routing() error {
	enc, err := encoder()
	if err != nil {
		return err
	}
	var router recall.Router
	type task struct {
		domain string
		vector embed.Vector
	}
	var asked []task
	for _, domain := range domains {
		groups, err := r.groups(domain)
		if err != nil {
			return err
		}
		for _, g := range groups {
			v, err := enc.Embed(r.ctx, clip(g.task, 8000))
			if err != nil {
				return fmt.Errorf("embed task: %w", err)
			}
			if half(g.id, r.opts.Seed) == 0 {
				asked = append(asked, task{domain, v})
			} else {
				router.Add("agent", domain+"/"+g.id, domain, v)
			}
		}
	}
	right, weak := 0, 0
	missed := map[string]int{}
	for _, x := range asked {
		route := router.Route("agent", x.vector)
		if route.Weak() {
			weak++
		}
		if route.TaskType == x.domain {
			right++
		} else {
			missed[x.domain]++
		}
	}
	r.addShare("routing_accuracy", right, len(asked))
	r.note("routing: %d tasks of %d domains asked, the vote is weak for %d; wrong by domain: %v", len(asked), len(domains), weak, missed)
	return nil
}

// few takes the first n groups in an order given by the seed when the run is quick.
func (r *runner) few(groups []taskGroup, n int) []taskGroup {
	if !r.opts.Quick || len(groups) <= n {
		return groups
	}
	slices.SortFunc(groups, func(a, b taskGroup) int {
		return cmp.Compare(spreadHash(a.id, r.opts.Seed), spreadHash(b.id, r.opts.Seed))
	})
	return groups[:n]
}

// libraryMemory is a line of memories-reme.jsonl.
type libraryMemory struct {
	ID       string   `json:"id"`
	Library  string   `json:"library"`
	Scenario string   `json:"scenario"`
	Content  string   `json:"content"`
	Keywords []string `json:"keywords"`
	Tools    []string `json:"tools"`
}

// silver asks a library of lessons about function calls for each task of the same functions.
func (r *runner) silver() error {
	all, err := readLines[libraryMemory](r.opts.Data, "memories-reme.jsonl")
	if err != nil {
		return err
	}
	groups, err := r.groups("bfcl")
	if err != nil {
		return err
	}
	return r.with(func(s *site) error {
		c, err := s.agent("library")
		if err != nil {
			return err
		}
		stored := 0
		for _, m := range all {
			if m.Library != "bfcl_v3" {
				continue
			}
			stored++
			_, err := s.node.AddExperience(s.ctx, c, api.AddExperience{
				Scenario: clip(m.Scenario, 1000), Content: clip(m.Content, 8000), Tools: m.Tools, Keywords: m.Keywords[:min(len(m.Keywords), 12)],
			}, api.Write{})
			if err != nil {
				return err
			}
		}
		if err := s.settle(); err != nil {
			return err
		}
		fit, places := 0, 0
		groups = r.few(groups, 150)
		for _, g := range groups {
			calls := map[string]bool{}
			for _, step := range g.rows[0].Steps {
				calls[step.Tool] = true
			}
			found, err := s.search(c, g.task, 5)
			if err != nil {
				return err
			}
			places += 5
			for _, x := range found {
				if slices.ContainsFunc(x.Experience.Tools, func(t string) bool { return calls[t] }) {
					fit++
				}
			}
		}
		r.addShare("silver_p5", fit, places)
		r.note("silver: %d lessons, %d tasks; a place that stays empty counts as wrong", stored, len(groups))
		return nil
	})
}
