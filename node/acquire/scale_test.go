package acquire

import (
	"fmt"
	"strings"
	"testing"
)

// largest is a group at the limits of the wire: 16 attempts of 256 steps with long observations.
func largest() Group {
	g := Group{Task: "Sort file F1001 of user ana", Alike: sharedWords}
	long := strings.Repeat("line of a log file 2027-03-04 with words and numbers 12345\n", 270)
	for n := range 16 {
		a := Attempt{Number: n, HasReward: true, Success: n%2 == 0}
		for i := range 256 {
			s := Step{Tool: fmt.Sprint("tool", i%20), Observation: long, Args: map[string]any{"file": "F1001", "id": fmt.Sprintf("X%d", i*n)}}
			if i%5 == 0 {
				s.Args = map[string]any{"command": fmt.Sprintf("grep -n %d file%d | sort -k %d | uniq -c", i, n, i)}
			}
			if i%7 == 0 {
				s.Observation = "error: 404 not found"
			}
			a.Steps = append(a.Steps, s)
		}
		a.Given = []string{strings.Repeat("Call login before book. ", 20)}
		g.Attempts = append(g.Attempts, a)
	}
	return g
}

// BenchmarkDistilLargest is the worst case that a caller may send.
func BenchmarkDistilLargest(b *testing.B) {
	g := largest()
	for b.Loop() {
		Distil(g)
	}
}
