package screen

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rows calls f with every line of a file of the shared development data, or skips the test where they are not at hand.
func rows(t *testing.T, name string, f func(line []byte)) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", name))
	if err != nil {
		t.Skipf("skipped: no %s beside the repository", name)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		f(line)
	}
}

// TestPersonalDataRecall measures how much of each labelled span is covered: it is found when nine tenths are.
func TestPersonalDataRecall(t *testing.T) {
	bars := map[string]float64{"CREDIT_CARD": .95, "IBAN_CODE": .95, "EMAIL_ADDRESS": .95, "IP_ADDRESS": .95, "PHONE_NUMBER": .85, "US_SSN": .95}
	found, total := make(map[string]int), make(map[string]int)
	rows(t, "pii-presidio.jsonl", func(line []byte) {
		var row struct {
			Text  string
			Spans []struct {
				Type       string
				Start, End int
			}
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		findings, characters := Text(row.Text).Findings, []rune(row.Text)
		for _, s := range row.Spans {
			start, end := len(string(characters[:s.Start])), len(string(characters[:s.End]))
			covered := 0
			for _, f := range findings {
				if f.Kind == Personal || f.Kind == Secret {
					covered += max(0, min(end, f.End)-max(start, f.Start))
				}
			}
			total[s.Type]++
			if 10*covered >= 9*(end-start) {
				found[s.Type]++
			}
		}
	})
	for kind, bar := range bars {
		t.Logf("%s: %d of %d", kind, found[kind], total[kind])
		if float64(found[kind]) < bar*float64(total[kind]) {
			t.Errorf("%s: %d of %d, want %.2f", kind, found[kind], total[kind], bar)
		}
	}
}

func TestInstructionRecall(t *testing.T) {
	found, total := 0, 0
	rows(t, "poison-instructions.jsonl", func(line []byte) {
		var row struct{ Text string }
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		total++
		if Text(row.Text).Action == Quarantine {
			found++
		}
	})
	t.Logf("%d of %d instructions", found, total)
	if found*10 < total*8 {
		t.Errorf("%d of %d instructions, want 8 in 10", found, total)
	}
}

// TestFalseFindingsInMemories: lessons of other memory systems give no orders and hold no personal data. Every fourth is
// looked at, which keeps the race detector's run short.
func TestFalseFindingsInMemories(t *testing.T) {
	touched, total, row := 0, 0, 0
	for _, name := range []string{"memories-reme.jsonl", "memories-memento.jsonl"} {
		rows(t, name, func(line []byte) {
			if row++; row%4 != 0 {
				return
			}
			var memory struct {
				Scenario string
				Content  any
			}
			if err := json.Unmarshal(line, &memory); err != nil {
				t.Fatal(err)
			}
			total++
			if r := Fields(memory.Scenario, plain(memory.Content), nil); r.Action != Pass {
				touched++
				t.Logf("%s: %+v", name, r.Findings)
			}
		})
	}
	t.Logf("%d of %d memories touched", touched, total)
	if touched*100 > total {
		t.Errorf("%d of %d memories touched, want at most 1 in 100", touched, total)
	}
}

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
