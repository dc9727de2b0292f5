package federation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// micro reads a decimal such as .48 or 12 as Micro.
func micro(d *datadriven.TestData, s string) Micro {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d.Fatalf(nil, "%v", err)
	}
	return store(x)
}

// fields reads "name=value ..." with decimals as Micro; a flag without value is 1.
func fields(d *datadriven.TestData, line string) map[string]Micro {
	m := map[string]Micro{}
	for field := range strings.FieldsSeq(line) {
		name, value, ok := strings.Cut(field, "=")
		if !ok {
			value = "1"
		}
		m[name] = micro(d, value)
	}
	return m
}

func decimal(m Micro) string { return strconv.FormatFloat(unit(m), 'f', 6, 64) }

func profileNamed(d *datadriven.TestData) Profile {
	if slices.ContainsFunc(d.CmdArgs, func(a datadriven.CmdArg) bool { return a.Key == "strict" }) {
		return StrictProfile()
	}
	return DefaultProfile()
}

// intArg returns the argument of a command, or 0.
func intArg(t *testing.T, d *datadriven.TestData, name string) (n int) {
	d.MaybeScanArgs(t, name, &n)
	return n
}

// TestTrustFile runs testdata/trust. Each line of "score jury=J [strict] [promoted]" is one kind of juror:
// "count=n w= s= v= lw= ls= c=", c being the citations of each.
func TestTrustFile(t *testing.T) {
	datadriven.RunTest(t, "testdata/trust", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "score" {
			d.Fatalf(t, "unknown command %s", d.Cmd)
		}
		var jurors []Juror
		for line := range strings.Lines(d.Input) {
			f := fields(d, line)
			juror := Juror{
				Acc:   Accumulator{W: f["w"], S: f["s"], V: f["v"], Citations: f["c"] / One},
				Rater: Rater{LW: f["lw"], LS: f["ls"]},
			}
			for range max(f["count"]/One, 1) {
				jurors = append(jurors, juror)
			}
		}
		p := profileNamed(d)
		s := Trust(jurors, intArg(t, d, "jury"), p)
		var b strings.Builder
		for _, term := range s.Terms {
			fmt.Fprintf(&b, "leniency %s lift %s cap %s heard %v\n",
				decimal(term.Leniency), decimal(term.Lift), decimal(term.Cap), term.Heard)
		}
		verdict, missing := Decide(s, d.HasArg("promoted"), p)
		fmt.Fprintf(&b, "n %s mu %s half %s trust %s upper %s\nheard %d of %d, jury %d, citations %d, rule %s\n%s %s\n",
			decimal(s.N), decimal(s.Mu), decimal(s.Half), decimal(s.Trust), decimal(s.Upper),
			s.Heard, s.Quorum, s.Jury, s.Citations, s.Rule, verdict, strings.Join(missing, " "))
		return strings.ReplaceAll(b.String(), " \n", "\n")
	})
}

// TestPromotionFile runs testdata/promotion: nominations from own outcomes, and quotas.
func TestPromotionFile(t *testing.T) {
	datadriven.RunTest(t, "testdata/promotion", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "nominate":
			in := NominationInput{Kind: KindSuccess, Status: StatusActive, Screening: ScreeningPass, Outside: 3}
			for _, arg := range d.CmdArgs {
				switch value := strings.Join(arg.Vals, ""); arg.Key {
				case "share":
					in.Share = Share(value)
				case "kind":
					in.Kind = Kind(value)
				case "status":
					in.Status = Status(value)
				case "screening":
					in.Screening = Screening(value)
				case "outside":
					in.Outside = intArg(t, d, "outside")
				case "on-shelf":
					in.Candidate = true
				}
			}
			for line := range strings.Lines(d.Input) {
				f := fields(d, line)
				in.Own.Add(f["c"], f["r"])
			}
			ok, reason := Nominate(in)
			return fmt.Sprintf("%v %s (credit %s, by record %v)\n", ok, reason, decimal(in.Own.C), NominateByRecord(in.Own))
		case "quota":
			ok, reason := QuotaHolds(QuotaInput{
				PromotedToday: intArg(t, d, "today"), AuthorInMeta: intArg(t, d, "own"), MetaSize: intArg(t, d, "meta"),
				ActivePrincipals: intArg(t, d, "active"), Limits: DefaultQuota(),
			})
			return strings.TrimSpace(fmt.Sprintf("%v %s", ok, reason)) + "\n"
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

// TestGateFile runs testdata/gate. "observe" adds its deltas, each "value" or "value*times", to the ring of the
// file; "route" routes one attempt by the thresholds as they stand.
func TestGateFile(t *testing.T) {
	var ring DeltaRing
	datadriven.RunTest(t, "testdata/gate", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "reset":
			ring = DeltaRing{}
			return "ok\n"
		case "observe":
			for word := range strings.FieldsSeq(d.Input) {
				value, times, _ := strings.Cut(word, "*")
				n := One
				if times != "" {
					n = micro(d, times)
				}
				for range n / One {
					ring.Observe(micro(d, value))
				}
			}
			long, buffer := Thresholds(ring, ring.Count)
			return fmt.Sprintf("count %d, kept %d: long %s buffer %s\n", ring.Count, len(ring.Deltas), decimal(long), decimal(buffer))
		case "route":
			in := GateInput{
				Success: d.HasArg("success"), WarmUp: d.HasArg("warm-up"), PureFailure: d.HasArg("pure-failure"),
				Mixed: d.HasArg("contrast"), Conflict: d.HasArg("conflict"),
			}
			in.Long, in.Buffer = Thresholds(ring, ring.Count)
			var delta string
			d.MaybeScanArgs(t, "delta", &delta)
			in.Delta = micro(d, delta)
			route, reason := RouteOf(in)
			return fmt.Sprintf("%s %s, strength %s\n", route, reason, decimal(InitialStrength(in.Delta)))
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

// TestDedupeFile runs testdata/dedupe. The input of "compare" is two texts, each "scenario | content" on a line;
// arguments give a side's tools, preconditions and kind: a-tools=(x,y), b-pre=(key:value), b-kind=failure.
func TestDedupeFile(t *testing.T) {
	datadriven.RunTest(t, "testdata/dedupe", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "normalize":
			return strconv.Quote(NormalizeText(d.Input)) + "\n"
		case "compare":
			sides := parseSides(t, d)
			hashes := [2][32]byte{}
			sets := [2][]uint64{}
			for i, side := range sides {
				hashes[i] = TextHash(side.Scenario, side.Content, "airline")
				sets[i] = TokenSet(side.Scenario + " " + side.Content)
			}
			return fmt.Sprintf("same hash %v, jaccard %s, vetoes %v\n",
				hashes[0] == hashes[1], decimal(Jaccard(sets[0], sets[1])), Vetoes(sides[0], sides[1]))
		}
		d.Fatalf(t, "unknown command %s", d.Cmd)
		return ""
	})
}

func parseSides(t *testing.T, d *datadriven.TestData) (sides [2]DedupeSide) {
	lines := strings.Split(strings.TrimSpace(d.Input), "\n")
	if len(lines) != 2 {
		d.Fatalf(t, "want two lines, got %d", len(lines))
	}
	for i, line := range lines {
		scenario, content, _ := strings.Cut(line, " | ")
		sides[i].Scenario, sides[i].Content = scenario, content
	}
	for _, arg := range d.CmdArgs {
		side := &sides[int(arg.Key[0]-'a')&1]
		switch arg.Key[2:] {
		case "tools":
			side.Tools = arg.Vals
		case "pre":
			side.Preconditions = pairsOf(arg.Vals)
		case "env":
			side.Environment = pairsOf(arg.Vals)
		case "kind":
			side.Kind = Kind(arg.Vals[0])
		case "type":
			side.TaskType = arg.Vals[0]
		}
	}
	return sides
}

func pairsOf(list []string) map[string]string {
	m := map[string]string{}
	for _, item := range list {
		key, value, _ := strings.Cut(item, ":")
		m[key] = value
	}
	return m
}
