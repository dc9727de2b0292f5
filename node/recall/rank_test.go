package recall

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"cairn/index"
	"cairn/index/embed"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

// TestRank runs the files of testdata. A line is one item: place (ordinary or shelf), id, then key=value pairs; common is
// the cosine on the common scale, angle the direction of its only vector in degrees.
func TestRank(t *testing.T) {
	datadriven.Walk(t, "testdata/rank", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			o := DefaultOptions()
			for _, arg := range d.CmdArgs {
				setOption(t, &o, arg.Key, arg.Vals[0])
			}
			var ordinary, shelf []Candidate
			for line := range strings.Lines(d.Input) {
				place, c := parseCandidate(t, strings.Fields(line))
				if place == "shelf" {
					shelf = append(shelf, c)
				} else {
					ordinary = append(ordinary, c)
				}
			}
			return show(Rank(ordinary, shelf, o))
		})
	})
}

func setOption(t *testing.T, o *Options, key, value string) {
	x, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatal(err)
	}
	switch key {
	case "k":
		o.K = int(x)
	case "lambda":
		o.Lambda = x
	case "cap":
		o.AuthorCap = int(x)
	case "explore":
		o.Explore = x != 0
	case "epsilon":
		o.Epsilon = x
	case "coin":
		o.Coin = x
	case "budget":
		o.TokenBudget = int(x)
	default:
		t.Fatalf("no option %q", key)
	}
}

func parseCandidate(t *testing.T, fields []string) (place string, c Candidate) {
	c = Candidate{ID: fields[1], Source: SourceMeta, Principal: fields[1], Strength: .5, Trust: .5, Length: 10}
	c.Hit = index.Hit{AboveFloor: true}
	for _, f := range fields[2:] {
		key, value, _ := strings.Cut(f, "=")
		x, _ := strconv.ParseFloat(value, 64)
		switch key {
		case "common":
			c.Hit.Common, c.Hit.Score = x, x
		case "score":
			c.Hit.Score = x
		case "below":
			c.Hit.AboveFloor = false
		case "own":
			c.Own, c.Source, c.Principal = true, SourceOwn, "me"
		case "by":
			c.Principal = value
		case "trust":
			c.Trust = x
		case "strength":
			c.Strength = x
		case "mu":
			c.Mu = x
		case "since":
			c.WaitingSince = int64(x)
		case "buffered":
			c.Buffered = true
		case "uses":
			c.UseCount = x
		case "rpe":
			c.AbsRPE = x
		case "created":
			c.CreatedAt = int64(x)
		case "tokens":
			c.Length = int(x)
		case "angle":
			c.Vectors = []embed.Vector{direction(x)}
		default:
			t.Fatalf("no key %q", key)
		}
	}
	return fields[0], c
}

func show(out []Ranked, omitted []Omitted) string {
	var b strings.Builder
	for _, r := range out {
		fmt.Fprintf(&b, "%d %s raw=%.4f score=%.4f", r.Rank, r.ID, r.Raw, r.Score)
		if r.Exploratory {
			b.WriteString(" exploratory")
		}
		b.WriteByte('\n')
	}
	for _, o := range omitted {
		fmt.Fprintf(&b, "omitted %s %s\n", o.ID, o.Reason)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// TestRankOrderOfInput: the order in which candidates arrive does not matter.
func TestRankOrderOfInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		list := make([]Candidate, n)
		for i := range list {
			score := float64(rapid.IntRange(0, 5).Draw(t, "score")) / 5
			list[i] = Candidate{
				ID: fmt.Sprintf("e%02d", i), Principal: fmt.Sprintf("p%d", i%3), Trust: .5, Strength: .5,
				Hit:     index.Hit{Common: score, Score: score, AboveFloor: score > .1},
				Vectors: []embed.Vector{direction(float64(rapid.IntRange(0, 6).Draw(t, "angle")) * 15)},
				Length:  rapid.IntRange(0, 30).Draw(t, "tokens"), Buffered: rapid.Bool().Draw(t, "buffered"),
			}
		}
		o := DefaultOptions()
		o.K = rapid.IntRange(1, 6).Draw(t, "k")
		o.TokenBudget = rapid.IntRange(0, 80).Draw(t, "budget")
		split := rapid.IntRange(0, n).Draw(t, "split")
		want := show(Rank(list[:split], list[split:], o))
		ordinary := rapid.Permutation(list[:split]).Draw(t, "ordinary")
		shelf := rapid.Permutation(list[split:]).Draw(t, "shelf")
		if got := show(Rank(ordinary, shelf, o)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		checkRanks(t, o, ordinary, shelf)
	})
}

func checkRanks(t *rapid.T, o Options, ordinary, shelf []Candidate) {
	out, _ := Rank(ordinary, shelf, o)
	if len(out) > o.K {
		t.Fatalf("%d items for k=%d", len(out), o.K)
	}
	seen := make(map[string]bool)
	authors := make(map[string]int)
	for i, r := range out {
		if r.Rank != i || seen[r.ID] || !r.Hit.AboveFloor || r.Score > 1 {
			t.Fatalf("bad item %+v at %d", r, i)
		}
		seen[r.ID] = true
		if r.Exploratory && i != len(out)-1 {
			t.Fatalf("exploratory item at rank %d of %d", i, len(out))
		}
		if !r.Exploratory && !r.Own {
			authors[r.Principal]++
		}
	}
	for p, n := range authors {
		if n > o.AuthorCap {
			t.Fatalf("%d items of %s, cap %d", n, p, o.AuthorCap)
		}
	}
}
