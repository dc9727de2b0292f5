package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"cairn/federation"
)

// TestRules runs the files of testdata/rules: commands in, state out. Items go by the names that the files give them.
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		r := &ruleFile{lab: newLab(t), named: map[string]ID{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			r.t = t
			out := r.run(d)
			r.mustCheck()
			return out
		})
	})
}

type ruleFile struct {
	*lab
	named   map[string]ID
	reports int
}

func (r *ruleFile) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "agents": // agent principal, one a line
		for line := range strings.Lines(d.Input) {
			id, principal, _ := strings.Cut(strings.TrimSpace(line), " ")
			r.agent(id, principal)
		}
		return ""
	case "principal":
		return r.principal(d)
	case "settings":
		return r.settings(d)
	case "add":
		return r.addNamed(d)
	case "nominate":
		return r.nominateNamed(d)
	case "report":
		return r.reportNamed(d)
	case "promote":
		return r.promoteNamed(d)
	case "later":
		var days, hours int64
		d.MaybeScanArgs(r.t, "days", &days)
		d.MaybeScanArgs(r.t, "hours", &hours)
		r.now += days*day + hours*hour
		return ""
	case "tick":
		return fmt.Sprintf("struck %d\n", r.tick().Struck)
	case "replace":
		return r.replace(d)
	case "patch":
		return r.patch(d)
	case "show":
		return r.show(d)
	case "eligible":
		return r.eligibleFor(d)
	case "counters":
		return r.counters(d)
	}
	d.Fatalf(r.t, "unknown command %s", d.Cmd)
	return ""
}

func word(d *datadriven.TestData, at int) string {
	if at >= len(d.CmdArgs) {
		return ""
	}
	return d.CmdArgs[at].Key
}

func (r *ruleFile) nameOf(id ID) string {
	for name, x := range r.named {
		if x == id {
			return name
		}
	}
	return id.String()
}

func (r *ruleFile) principal(d *datadriven.TestData) string {
	b := UpdatePrincipal{ID: word(d, 0)}
	yes := true
	no := false
	switch word(d, 1) {
	case "anchor":
		b.Anchor = &yes
	case "suspend":
		b.Suspended = &yes
	case "resume":
		b.Suspended = &no
	}
	r.do(KindUpdatePrincipal, b, nil)
	return ""
}

func (r *ruleFile) settings(d *datadriven.TestData) string {
	var s Settings
	d.MaybeScanArgs(r.t, "per-day", &s.PerDay)
	d.MaybeScanArgs(r.t, "per-owner", &s.PerOwner)
	d.MaybeScanArgs(r.t, "profile", &s.TrustProfile)
	r.do(KindSettings, s, nil)
	return ""
}

func (r *ruleFile) addNamed(d *datadriven.TestData) string {
	name, agent := word(d, 0), word(d, 1)
	text, kind, wish := name, string(federation.KindDirect), string(federation.ShareCandidate)
	d.MaybeScanArgs(r.t, "text", &text)
	d.MaybeScanArgs(r.t, "kind", &kind)
	d.MaybeScanArgs(r.t, "share", &wish)
	out := r.add(agent, text, func(e *Experience) {
		e.Kind, e.Share = federation.Kind(kind), federation.Share(wish)
	})
	r.named[name] = out.ID
	return ""
}

// nominateNamed runs the nomination job: nominate ORIGINAL COPY [screening=...].
func (r *ruleFile) nominateNamed(d *datadriven.TestData) string {
	original := r.must(r.named[word(d, 0)])
	job, ok := r.leaseOf(JobNominate, original.ID)
	if !ok {
		return "no job\n"
	}
	screening := string(federation.ScreeningPass)
	d.MaybeScanArgs(r.t, "screening", &screening)
	out := r.nominate(original, job, func(b *Nominate) { b.Screening = federation.Screening(screening) })
	if out.Candidate != (ID{}) && r.nameOf(out.Candidate) == out.Candidate.String() {
		r.named[word(d, 1)] = out.Candidate
	}
	if out.Reason != "" {
		name := ""
		if out.Candidate != (ID{}) {
			name = " as " + r.nameOf(out.Candidate)
		}
		return "reason " + out.Reason + name + "\n"
	}
	return r.describe(out.Candidate)
}

// reportNamed reports outcomes: report AGENT ITEM reward=1 [n=1] [evidence=verified] [unused] [fresh] [type=NAME]. With fresh
// every outcome is of a task type without history, so that .5 is expected.
func (r *ruleFile) reportNamed(d *datadriven.TestData) string {
	agent, item := word(d, 0), r.named[word(d, 1)]
	n, reward, evidence := 1, "1", string(federation.EvidenceVerified)
	d.MaybeScanArgs(r.t, "n", &n)
	d.MaybeScanArgs(r.t, "reward", &reward)
	d.MaybeScanArgs(r.t, "evidence", &evidence)
	y, err := strconv.ParseFloat(reward, 64)
	if err != nil {
		d.Fatalf(r.t, "%v", err)
	}
	var last Reported
	for range n {
		rec := r.recall(agent, item)
		if d.HasArg("fresh") {
			r.reports++
			rec.TaskType = fmt.Sprintf("type-%d", r.reports)
		}
		d.MaybeScanArgs(r.t, "type", &rec.TaskType)
		o := r.outcome(rec, federation.Micro(y*1e6+.5))
		o.Evidence = federation.EvidenceKind(evidence)
		if d.HasArg("unused") {
			o.Credits[0].Credit, o.Credits[0].Unused = 0, true
		}
		last = Reported{}
		r.do(KindOutcome, o, &last)
	}
	out := fmt.Sprintf("expected %d, cited %d", last.Expected, len(last.Citations))
	for _, m := range last.Trust {
		out += fmt.Sprintf(", trust %d -> %d", m.Before, m.After)
	}
	return out + "\n"
}

// promoteNamed runs the promotion job: promote ITEM [fuse=OTHER].
func (r *ruleFile) promoteNamed(d *datadriven.TestData) string {
	id := r.named[word(d, 0)]
	job, ok := r.leaseOf(JobPromote, id)
	if !ok {
		return "no job\n"
	}
	b := Promote{Job: ref(job), Target: Target{ID: id, Version: 1}, Decision: r.id()}
	var into string
	if d.MaybeScanArgs(r.t, "fuse", &into) {
		b.Fuse, b.FuseVer = r.named[into], 1
	}
	res := r.try(KindPromote, b)
	if res.Reject != nil {
		return res.Reject.Error() + "\n"
	}
	var out Promoted
	if err := DecodeBody(res.Body, &out); err != nil {
		r.t.Fatal(err)
	}
	if !out.Done {
		return "not promoted: " + out.Reason + "\n"
	}
	return r.describe(id)
}

// replace runs the jobs that fill seats: replace ITEM.
func (r *ruleFile) replace(d *datadriven.TestData) string {
	id := r.named[word(d, 0)]
	n := 0
	for {
		job, ok := r.leaseOf(JobReplace, id)
		if !ok {
			return fmt.Sprintf("%d runs\n", n) + r.describe(id)
		}
		b := ReplaceJuror{Job: ref(job), ID: id}
		r.read(func(v *View, ns *Namespace) {
			jury, err := v.Jury(ns, id)
			if err != nil {
				r.t.Fatal(err)
			}
			free, err := v.FreeJurors(ns, r.must(id), jury)
			if err != nil {
				r.t.Fatal(err)
			}
			if len(free) > 0 {
				b.New = free[0]
			}
		})
		r.do(KindReplaceJuror, b, nil)
		n++
	}
}

func (r *ruleFile) patch(d *datadriven.TestData) string {
	e, text := r.must(r.named[word(d, 0)]), word(d, 1)
	r.do(KindPatchExperience, PatchExperience{
		ID: e.ID, Owner: e.Owner, Version: e.Version, Scenario: e.Scenario, Content: text, Hash: textHash(text),
		Share: e.Share, Vectors: testVectors(),
	}, nil)
	return ""
}

func (r *ruleFile) show(d *datadriven.TestData) string { return r.describe(r.named[word(d, 0)]) }

func (r *ruleFile) describe(id ID) string {
	e := r.must(id)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.nameOf(id), e.Status)
	if e.Unit != "" {
		fmt.Fprintf(&b, ", unit %s", e.Unit)
	}
	if e.General {
		b.WriteString(", general")
	}
	if e.SupersededBy != (ID{}) {
		fmt.Fprintf(&b, ", by %s", r.nameOf(e.SupersededBy))
	}
	if e.Blocked != "" {
		fmt.Fprintf(&b, ", blocked: %s", e.Blocked)
	}
	b.WriteString("\n")
	if e.Shared() {
		r.describeJury(&b, e)
	}
	return b.String()
}

func (r *ruleFile) describeJury(b *strings.Builder, e *Experience) {
	r.read(func(v *View, ns *Namespace) {
		jury, err := v.Jury(ns, e.ID)
		if err != nil || jury == nil {
			r.t.Fatalf("jury: %v", err)
		}
		s := e.Trust
		fmt.Fprintf(b, "trust %d mean %d upper %d, heard %d of %d, citations %d\n", s.Trust, s.Mu, s.Upper, s.Heard, s.Jury, s.Citations)
		for _, seat := range jury.Seats {
			acc, err := v.Accumulator(ns, e.ID, e.Version, seat.Juror)
			if err != nil {
				r.t.Fatal(err)
			}
			fmt.Fprintf(b, "  %s", seat.Juror)
			if seat.Struck {
				b.WriteString(" struck")
			}
			if acc.W > 0 {
				fmt.Fprintf(b, " W %d S %d V %d", acc.W, acc.S, acc.V)
			}
			b.WriteString("\n")
		}
	})
}

func (r *ruleFile) eligibleFor(d *datadriven.TestData) string {
	var out string
	r.read(func(v *View, ns *Namespace) {
		unit, jurors, err := v.Eligible(ns, r.must(r.named[word(d, 0)]))
		if err != nil {
			r.t.Fatal(err)
		}
		out = fmt.Sprintf("unit %q: %s\n", unit, strings.Join(jurors, " "))
	})
	return out
}

func (r *ruleFile) counters(d *datadriven.TestData) string {
	var names []string
	for _, a := range d.CmdArgs {
		names = append(names, a.Key)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, n := range names {
		fmt.Fprintf(&b, "%s %d\n", n, r.counter(n))
	}
	return b.String()
}
