// Package retrievaleval measures whether search finds what belongs to a question, on conversations, preferences and libraries of
// lessons in two languages, and whether it finds nothing for texts without sense.
package retrievaleval

import (
	"errors"
	"fmt"
	"path/filepath"

	"cairn/cmd/cairn-bench/jsonl"
)

// question is a text with the documents of a pool that belong to it.
type question struct {
	text string
	pool string
	gold map[string]bool
}

// document is a text of a pool.
type document struct{ id, text string }

// set is a data set: pools, questions, and the two depths at which recall is measured.
type set struct {
	name      string
	at        [2]int
	pools     map[string][]document
	questions []question
}

// Sizes of the samples of sets without evidence.
const (
	bankTexts     = 250
	lessonEvery   = 3
	lessonQueries = 150
)

// sets are the data sets by name, with what reads each.
var sets = []struct {
	name string
	read func(dir string, s *set) error
}{
	{"locomo", func(dir string, s *set) error { return s.conversations(dir, "locomo", true) }},
	{"bfclmem", func(dir string, s *set) error { return s.conversations(dir, "bfclmem", false) }},
	{"prefeval", func(dir string, s *set) error { return s.preferences(dir) }},
	{"memorybank_en", func(dir string, s *set) error { return s.bank(dir, "en") }},
	{"memorybank_cn", func(dir string, s *set) error { return s.bank(dir, "cn") }},
	{"reme_en", func(dir string, s *set) error { return s.lessons(dir, "en") }},
	{"reme_zh", func(dir string, s *set) error { return s.lessons(dir, "zh") }},
}

// load reads a set.
func load(dir, name string) (*set, error) {
	for _, x := range sets {
		if x.name == name {
			s := &set{name: name, at: [2]int{1, 5}, pools: map[string][]document{}}
			return s, x.read(dir, s)
		}
	}
	return nil, fmt.Errorf("no set %q", name)
}

func (s *set) put(pool string, d document) { s.pools[pool] = append(s.pools[pool], d) }

// conversations reads turns and the questions about them whose evidence is known; each conversation is a pool.
func (s *set) conversations(dir, name string, speakers bool) error {
	s.at = [2]int{5, 10}
	err := lines(filepath.Join(dir, name+"-turns.jsonl"), func(t struct{ Conv, ID, Speaker, Text string }) {
		if speakers {
			t.Text = t.Speaker + ": " + t.Text
		}
		s.put(t.Conv, document{t.ID, t.Text})
	})
	return errors.Join(err, lines(filepath.Join(dir, name+"-questions.jsonl"), func(q struct {
		Conv, Question string
		Evidence       []string
	}) {
		gold := map[string]bool{}
		for _, id := range q.Evidence {
			gold[id] = true
		}
		if len(gold) > 0 {
			s.questions = append(s.questions, question{q.Question, q.Conv, gold})
		}
	}))
}

// preferences reads questions whose answers a preference should shape.
func (s *set) preferences(dir string) error {
	return lines(filepath.Join(dir, "prefeval.jsonl"), func(p struct{ ID, Preference, Question string }) {
		s.put("", document{p.ID, p.Preference})
		s.questions = append(s.questions, question{p.Question, "", map[string]bool{p.ID: true}})
	})
}

// bank reads what a user said and was answered: the answer belongs to the saying.
func (s *set) bank(dir, lang string) error {
	return lines(filepath.Join(dir, "memorybank-turns.jsonl"), func(t struct{ Lang, Query, Response string }) {
		if n := len(s.questions); t.Lang == lang && n < bankTexts {
			id := fmt.Sprint(n)
			s.put("", document{id, t.Response})
			s.questions = append(s.questions, question{t.Query, "", map[string]bool{id: true}})
		}
	})
}

// lessons reads a library: the content belongs to its scenario.
func (s *set) lessons(dir, lang string) error {
	n := 0
	return lines(filepath.Join(dir, "memories-reme.jsonl"), func(m struct{ ID, Lang, Scenario, Content string }) {
		if m.Lang != lang {
			return
		}
		s.put("", document{m.ID, m.Content})
		if n%lessonEvery == 0 && len(s.questions) < lessonQueries {
			s.questions = append(s.questions, question{m.Scenario, "", map[string]bool{m.ID: true}})
		}
		n++
	})
}

// lines calls visit with each JSON value of a file.
func lines[T any](path string, visit func(T)) error {
	return jsonl.Each(path, func(v T) error {
		visit(v)
		return nil
	})
}
