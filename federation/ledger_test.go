package federation

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLedgerProof(t *testing.T) {
	for _, c := range []struct {
		name string
		l    Ledger
		want Proof
	}{
		{"nothing known", Ledger{}, Unproven},
		{"one agreement proves", Ledger{Agreed: 1}, Proven},
		{"one contradiction disproves", Ledger{Contradicted: 1}, Disproved},
		{"even again", Ledger{Agreed: 3, Contradicted: 3}, Unproven},
		{"more agreed", Ledger{Agreed: 3, Contradicted: 2}, Proven},
	} {
		if got := c.l.Proof(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestProbationWeight(t *testing.T) {
	for _, c := range []struct {
		name    string
		proof   Proof
		setting Probation
		strict  bool
		want    Micro
	}{
		{"proven", Proven, ProbationLedger, false, One},
		{"proven by default", Proven, "", false, One},
		{"proven, strict", Proven, ProbationLedger, true, One},
		{"unproven", Unproven, ProbationLedger, false, 200_000},
		{"unproven, strict", Unproven, ProbationLedger, true, 0},
		{"disproved", Disproved, ProbationLedger, false, 0},
		{"off", Proven, ProbationOff, false, 0},
		{"unknown setting", Proven, "later", false, 0},
		{"unknown proof", "later", ProbationLedger, false, 0},
	} {
		if got := ProbationWeight(c.proof, c.setting, c.strict); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

func TestLedgerJudge(t *testing.T) {
	claim := Deed{Group: [32]byte{1}, Task: [32]byte{2}, Action: [32]byte{3}, Success: true}
	for _, c := range []struct {
		name    string
		outcome Deed
		kind    EvidenceKind
		want    Ledger
	}{
		{"same group and action, worked", Deed{Group: [32]byte{1}, Action: [32]byte{3}, Success: true}, EvidenceVerified, Ledger{Agreed: 1}},
		{"same group and action, failed", Deed{Group: [32]byte{1}, Action: [32]byte{3}}, EvidenceVerified, Ledger{Contradicted: 1}},
		{"same text of the task", Deed{Group: [32]byte{9}, Task: [32]byte{2}, Action: [32]byte{3}, Success: true}, EvidenceVerified, Ledger{Agreed: 1}},
		{"another action", Deed{Group: [32]byte{1}, Action: [32]byte{4}, Success: true}, EvidenceVerified, Ledger{}},
		{"another task", Deed{Group: [32]byte{9}, Task: [32]byte{9}, Action: [32]byte{3}, Success: true}, EvidenceVerified, Ledger{}},
		{"a judge's verdict", Deed{Group: [32]byte{1}, Action: [32]byte{3}, Success: true}, EvidenceJudge, Ledger{}},
		{"own opinion", Deed{Group: [32]byte{1}, Action: [32]byte{3}, Success: true}, EvidenceSelf, Ledger{}},
	} {
		var got Ledger
		counted := got.Judge(c.outcome, claim, c.kind)
		if got != c.want || counted != (c.want != Ledger{}) {
			t.Errorf("%s: got %+v, counted %v; want %+v", c.name, got, counted, c.want)
		}
	}
	var l Ledger
	if l.Judge(Deed{Success: true}, Deed{Success: true}, EvidenceVerified) {
		t.Error("two deeds of which nothing is known speak of the same")
	}
}

func TestLedgerFailureClaim(t *testing.T) {
	fails := Deed{Group: [32]byte{1}, Action: [32]byte{3}}
	var l Ledger
	l.Judge(Deed{Group: [32]byte{1}, Action: [32]byte{3}}, fails, EvidenceVerified)
	if l.Proof() != Proven {
		t.Errorf("a failure that was foretold gives %s", l.Proof())
	}
}

// TestLedgerOrder: what a reader knows does not depend on the order in which it learnt it, and bearing is mutual.
func TestLedgerOrder(t *testing.T) {
	deed := rapid.Custom(func(t *rapid.T) Deed {
		small := rapid.Map(rapid.ByteRange(0, 2), func(b byte) [32]byte { return [32]byte{b} })
		return Deed{Group: small.Draw(t, "group"), Task: small.Draw(t, "task"), Action: small.Draw(t, "action"), Success: rapid.Bool().Draw(t, "success")}
	})
	rapid.Check(t, func(t *rapid.T) {
		claim := deed.Draw(t, "claim")
		outcomes := rapid.SliceOf(deed).Draw(t, "outcomes")
		var forward, backward Ledger
		for i := range outcomes {
			forward.Judge(outcomes[i], claim, EvidenceVerified)
			backward.Judge(outcomes[len(outcomes)-1-i], claim, EvidenceVerified)
			if outcomes[i].Bears(claim) != claim.Bears(outcomes[i]) {
				t.Fatalf("%+v bears on %+v one way only", outcomes[i], claim)
			}
		}
		if forward != backward {
			t.Fatalf("forward %+v, backward %+v", forward, backward)
		}
	})
}
