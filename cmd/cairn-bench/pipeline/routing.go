package pipeline

import (
	"cmp"
	"maps"
	"slices"

	"cairn/node/api"
)

// wide is how many neighbours vote about the task type of a task.
const wide = 10

// perDomain bounds the tasks of a domain in a quick run.
const perDomain = 40

// routing records half of the tasks of every domain and asks where the others belong.
func (r *runner) routing() error {
	return r.with(func(s *site) error {
		c, err := s.agent("router")
		if err != nil {
			return err
		}
		var asked []taskGroup
		for _, domain := range domains {
			groups, err := r.groups(domain)
			if err != nil {
				return err
			}
			for _, g := range r.few(groups, perDomain) {
				if half(g.id, r.opts.Seed) == 0 {
					asked = append(asked, g)
				} else if err := s.record(c, g, g.rows, true); err != nil {
					return err
				}
			}
		}
		if err := s.settle(); err != nil {
			return err
		}
		right, silent := 0, 0
		missed := map[string]int{}
		for _, g := range asked {
			found, err := s.search(c, g.task, wide)
			if err != nil {
				return err
			}
			switch vote(found) {
			case g.domain:
				right++
			case "":
				silent++
				missed[g.domain]++
			default:
				missed[g.domain]++
			}
		}
		r.addShare("routing_accuracy", right, len(asked))
		r.note("routing: %d tasks of %d domains asked, %d found nothing above the floor; wrong by domain: %v", len(asked), len(domains), silent, missed)
		return nil
	})
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

// vote is the task type with the largest sum of scores; empty for no neighbours.
func vote(found []api.Recalled) string {
	votes := map[string]float64{}
	for _, x := range found {
		votes[x.Experience.TaskType] += x.Score
	}
	best := ""
	for _, t := range slices.Sorted(maps.Keys(votes)) {
		if best == "" || votes[t] > votes[best] {
			best = t
		}
	}
	return best
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
