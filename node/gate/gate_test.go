package gate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"

	"cairn/federation"
	"cairn/index/embed"

	"github.com/cockroachdb/datadriven"
)

// direction is a unit vector of two values at an angle in degrees.
func direction(degrees float64) embed.Vector {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return embed.Vector{Embedder: embed.MiniLM, Values: []float32{float32(cos), float32(sin)}}
}

// TestGate runs the files of testdata: outcomes go in, neighbours and expectations come out.
//
//	add: lines of "ID key=value ..." with agent, type, group, angle (degrees), reward, at
//	remove: ids
//	neighbours agent= [group=] angle= k=
//	expected [caller=] [rule=] and lines "neighbour SIMILARITY REWARD" or "type|agent|namespace SUM N"
func TestGate(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var p Predictor
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "add":
				for line := range strings.Lines(d.Input) {
					p.Add(parseOutcome(t, strings.Fields(line)))
				}
				return ""
			case "remove":
				for line := range strings.Lines(d.Input) {
					p.Remove(strings.TrimSpace(line))
				}
				return ""
			case "neighbours":
				return neighbours(t, &p, d)
			case "expected":
				return expected(t, d)
			}
			t.Fatalf("no command %q", d.Cmd)
			return ""
		})
	})
}

func parseOutcome(t *testing.T, fields []string) Outcome {
	o := Outcome{ID: fields[0], Agent: "a", Vector: direction(0)}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		x, _ := strconv.ParseFloat(value, 64)
		switch key {
		case "agent":
			o.Agent = value
		case "type":
			o.TaskType = value
		case "group":
			o.Group = value
		case "angle":
			o.Vector = direction(x)
		case "reward":
			o.Reward = x
		case "at":
			o.At = int64(x)
		default:
			t.Fatalf("no key %q", key)
		}
	}
	return o
}

func neighbours(t *testing.T, p *Predictor, d *datadriven.TestData) string {
	agent, group, k, angle := "a", "", 5, 0
	d.MaybeScanArgs(t, "agent", &agent)
	d.MaybeScanArgs(t, "group", &group)
	d.MaybeScanArgs(t, "k", &k)
	d.MaybeScanArgs(t, "angle", &angle)
	var b strings.Builder
	for _, n := range p.Neighbours(agent, group, direction(float64(angle)), k) {
		fmt.Fprintf(&b, "similarity %d reward %d\n", n.Similarity, n.Reward)
	}
	if b.Len() == 0 {
		return "none\n"
	}
	return b.String()
}

func expected(t *testing.T, d *datadriven.TestData) string {
	var in Inputs
	for key, target := range map[string]**float64{"caller": &in.Caller, "rule": &in.Rule} {
		var text string
		if d.MaybeScanArgs(t, key, &text) {
			x, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			*target = &x
		}
	}
	for line := range strings.Lines(d.Input) {
		var what string
		var a, b int64
		if _, err := fmt.Sscan(line, &what, &a, &b); err != nil {
			t.Fatal(err)
		}
		switch what {
		case "neighbour":
			in.Neighbours = append(in.Neighbours, federation.Neighbour{Similarity: a, Reward: b})
		case "type":
			in.TaskType = federation.Tally{Sum: a, N: b}
		case "agent":
			in.Agent = federation.Tally{Sum: a, N: b}
		case "namespace":
			in.Namespace = federation.Tally{Sum: a, N: b}
		}
	}
	e := Expected(in)
	return fmt.Sprintf("%d %s: %s\n", e.Value, e.Source, e.Reason)
}

func TestPredictorForgetsTheOldest(t *testing.T) {
	var p Predictor
	for i := range MaxPerAgent + 3 {
		p.Add(Outcome{ID: fmt.Sprint(i), Agent: "a", Vector: direction(float64(i % 90)), Reward: 1, At: int64(i)})
	}
	if n := p.Len("a"); n != MaxPerAgent {
		t.Fatalf("%d outcomes, want %d", n, MaxPerAgent)
	}
	p.Add(Outcome{ID: "late", Agent: "a", Vector: direction(0), At: -1})
	if n := p.Len("a"); n != MaxPerAgent {
		t.Fatalf("%d outcomes after one that is older than all", n)
	}
	p.Remove("2") // gone already
	p.Remove(fmt.Sprint(MaxPerAgent + 2))
	if n := p.Len("a"); n != MaxPerAgent-1 {
		t.Fatalf("%d outcomes, want %d", n, MaxPerAgent-1)
	}
}

func TestPredictorRefuses(t *testing.T) {
	var p Predictor
	nan := float32(math.NaN())
	for _, o := range []Outcome{
		{Agent: "a", Vector: direction(0)},
		{ID: "1", Vector: direction(0)},
		{ID: "2", Agent: "a"},
		{ID: "3", Agent: "a", Vector: embed.Vector{Embedder: embed.MiniLM, Values: []float32{nan, 1}}},
		{ID: "4", Agent: "a", Vector: direction(0), Reward: math.NaN()},
	} {
		p.Add(o)
	}
	if n := p.Len("a"); n != 0 {
		t.Errorf("%d outcomes were kept", n)
	}
	p.Add(Outcome{ID: "5", Agent: "a", Vector: direction(0), Reward: 7})
	if got := p.Neighbours("a", "", direction(0), 1); len(got) != 1 || got[0].Reward != federation.One {
		t.Errorf("got %v, want a reward of one", got)
	}
	other := direction(0)
	other.Embedder = embed.E5
	if got := p.Neighbours("a", "", other, 1); len(got) != 0 {
		t.Errorf("another embedder found %v", got)
	}
	if got := p.Neighbours("a", "", embed.Vector{Embedder: "unknown", Values: []float32{1}}, 1); got != nil {
		t.Errorf("an unknown embedder found %v", got)
	}
}

func TestPredictorConcurrently(t *testing.T) {
	var p Predictor
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 50 {
				id := fmt.Sprint(g, "-", i)
				p.Add(Outcome{ID: id, Agent: "a", Vector: direction(float64(i)), Reward: .5, At: int64(i)})
				p.Neighbours("a", "", direction(10), 5)
				if i%2 == 0 {
					p.Remove(id)
				}
			}
		})
	}
	wg.Wait()
	if n := p.Len("a"); n != 100 {
		t.Errorf("%d outcomes, want 100", n)
	}
}

func TestRandomRoute(t *testing.T) {
	counts := make(map[federation.Route]int)
	for i := range 10_000 {
		key := fmt.Sprintf("experience-%06d", i)
		route := RandomRoute(key, 300_000, 200_000)
		if again := RandomRoute(key, 300_000, 200_000); again != route {
			t.Fatalf("%s: %s, then %s", key, route, again)
		}
		counts[route]++
	}
	for route, want := range map[federation.Route]int{federation.RouteLongTerm: 3000, federation.RouteBuffer: 2000, federation.RouteDiscard: 5000} {
		if got := counts[route]; got < want-200 || got > want+200 {
			t.Errorf("%s: %d of 10,000, want about %d", route, got, want)
		}
	}
}
