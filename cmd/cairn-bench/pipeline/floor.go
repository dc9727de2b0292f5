package pipeline

import (
	"embed"
	"fmt"
	"strings"

	"cairn/node/api"
)

// questionFiles hold lessons with two questions each that ask for them in other words, in English and Chinese; own work.
//
//go:embed questions/*.txt
var questionFiles embed.FS

// asked is a lesson with questions that it answers.
type asked struct {
	scenario, content string
	questions         []string
}

func readQuestions(name string) ([]asked, error) {
	text, err := questionFiles.ReadFile("questions/" + name + ".txt")
	if err != nil {
		return nil, err
	}
	var out []asked
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "||")
		if len(parts) != 4 {
			return nil, fmt.Errorf("questions/%s.txt: %q has %d parts, want 4", name, line, len(parts))
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		out = append(out, asked{parts[0], parts[1], parts[2:]})
	}
	return out, nil
}

// floor asks every question twice: of an agent that has the lesson, and of one that has all the others of its half.
// Lessons with even and odd numbers belong to two agents, so that each question finds the other agent without its lesson.
func (r *runner) floor() error {
	return r.with(func(s *site) error {
		returned, found, n := 0, 0, 0
		for _, language := range []string{"en", "zh"} {
			lessons, err := readQuestions(language)
			if err != nil {
				return err
			}
			back, top, err := s.ask(language, lessons)
			if err != nil {
				return err
			}
			total := 2 * len(lessons)
			r.note("floor, %s: %d questions, %d answered without their lesson, %d find it among the first five", language, total, back, top)
			returned, found, n = returned+back, found+top, n+total
		}
		r.addShare("floor_false_return", returned, n)
		r.addShare("floor_true_top5", found, n)
		return nil
	})
}

func (s *site) ask(language string, lessons []asked) (returned, found int, err error) {
	var owners [2]api.Caller
	for i := range owners {
		if owners[i], err = s.agent(fmt.Sprintf("%s-%d", language, i)); err != nil {
			return 0, 0, err
		}
	}
	for i, l := range lessons {
		if _, err := s.node.AddExperience(s.ctx, owners[i%2], api.AddExperience{Scenario: l.scenario, Content: l.content}, api.Write{}); err != nil {
			return 0, 0, err
		}
	}
	if err := s.settle(); err != nil {
		return 0, 0, err
	}
	for i, l := range lessons {
		for _, q := range l.questions {
			with, err := s.search(owners[i%2], q, 5)
			if err != nil {
				return 0, 0, err
			}
			without, err := s.search(owners[1-i%2], q, 5)
			if err != nil {
				return 0, 0, err
			}
			if len(without) > 0 {
				returned++
			}
			for _, x := range with {
				if x.Experience.Content == l.content {
					found++
				}
			}
		}
	}
	return returned, found, nil
}
