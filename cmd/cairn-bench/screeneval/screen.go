package screeneval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cairn/node/screen"
)

// each calls f with every row of a data file.
func each[T any](o Options, name string, f func(row *T)) (err error) {
	if o.Data == "" {
		return fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	file, err := os.Open(filepath.Join(o.Data, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	dec := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	for {
		var row T
		switch err := dec.Decode(&row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read %s: %w", name, err)
		}
		f(&row)
	}
}

// labelled is a text with the places of personal data, counted in characters.
type labelled struct {
	Text  string `json:"text"`
	Spans []struct {
		Type  string `json:"type"`
		Start int    `json:"start"`
		End   int    `json:"end"`
	} `json:"spans"`
}

var labels = map[string]string{
	"CREDIT_CARD": "screen_card_recall", "IBAN_CODE": "screen_iban_recall", "EMAIL_ADDRESS": "screen_email_recall",
	"IP_ADDRESS": "screen_ip_recall", "PHONE_NUMBER": "screen_phone_recall",
}

func personal(_ context.Context, o Options, out map[string]value) (string, error) {
	hit, total := map[string]int{}, map[string]int{}
	err := each(o, "pii-presidio.jsonl", func(row *labelled) {
		findings, characters := screen.Text(row.Text).Findings, []rune(row.Text)
		for _, s := range row.Spans {
			name, asked := labels[s.Type]
			if !asked {
				continue
			}
			start, end := len(string(characters[:s.Start])), len(string(characters[:s.End]))
			total[name]++
			if 10*covered(findings, start, end) >= 9*(end-start) {
				hit[name]++
			}
		}
	})
	for name, n := range total {
		out[name] = exact(float64(hit[name]) / float64(n))
	}
	return "", err
}

// covered counts the bytes of a span that findings of secrets and personal data lie over; findings do not overlap.
func covered(findings []screen.Finding, start, end int) (n int) {
	for _, f := range findings {
		if f.Kind == screen.Personal || f.Kind == screen.Secret {
			n += max(0, min(end, f.End)-max(start, f.Start))
		}
	}
	return n
}

// recorded is what is looked at of an attempt.
type recorded struct {
	Task  string `json:"task"`
	Steps []struct {
		Observation string `json:"observation"`
	} `json:"steps"`
}

func personalFalse(_ context.Context, o Options, out map[string]value) (string, error) {
	touched, total, skip := 0, 0, 1
	if o.Quick {
		skip = 5
	}
	look := func(text string) {
		if text == "" {
			return
		}
		total++
		for _, f := range screen.Text(text).Findings {
			if f.Kind == screen.Personal {
				touched++
				return
			}
		}
	}
	n := 0
	for _, domain := range []string{"sql", "python", "strategyqa"} {
		err := each(o, "trajectories-"+domain+".jsonl", func(row *recorded) {
			if n++; n%skip != 0 {
				return
			}
			look(row.Task)
			for _, s := range row.Steps {
				look(s.Observation)
			}
		})
		if err != nil {
			return "", err
		}
	}
	out["screen_pii_false_rate"] = exact(float64(touched) / float64(max(total, 1)))
	return fmt.Sprintf("screen_pii_false_rate: %d of %d texts", touched, total), nil
}

func instructions(_ context.Context, o Options, out map[string]value) (string, error) {
	hit, total := 0, 0
	err := each(o, "poison-instructions.jsonl", func(row *struct {
		Text string `json:"text"`
	}) {
		total++
		if screen.Text(row.Text).Action == screen.Quarantine {
			hit++
		}
	})
	if err == nil {
		out["screen_instruction_recall"] = exact(float64(hit) / float64(max(total, 1)))
	}
	return "", err
}

// lesson is a memory of another system.
type lesson struct {
	Scenario string `json:"scenario"`
	Content  any    `json:"content"`
}

func instructionsFalse(_ context.Context, o Options, out map[string]value) (string, error) {
	touched, total := 0, 0
	for _, name := range []string{"memories-reme.jsonl", "memories-memento.jsonl"} {
		err := each(o, name, func(row *lesson) {
			total++
			for _, f := range screen.Fields(row.Scenario, plain(row.Content), nil).Findings {
				if f.Kind == screen.Instruction {
					touched++
					return
				}
			}
		})
		if err != nil {
			return "", err
		}
	}
	out["screen_instruction_false_rate"] = exact(float64(touched) / float64(max(total, 1)))
	return fmt.Sprintf("screen_instruction_false_rate: %d of %d lessons", touched, total), nil
}

// plain joins a content that is a list.
func plain(content any) string {
	switch content := content.(type) {
	case string:
		return content
	case []any:
		var parts []string
		for _, c := range content {
			parts = append(parts, plain(c))
		}
		return strings.Join(parts, "\n")
	}
	return ""
}
