package store

import (
	"testing"

	"cairn/federation"
)

// TestEvidenceAfterTheEnd: an outcome about what was revoked, demoted or erased since is taken, and counts nothing for it.
func TestEvidenceAfterTheEnd(t *testing.T) {
	ends := map[string]func(l *lab, item ID){
		"revoked": func(l *lab, item ID) {
			l.do(KindCurate, Curate{Target: Target{ID: item}, Action: ActionRevoke, By: "admin"}, nil)
		},
		"demoted": func(l *lab, item ID) {
			for range 20 {
				l.report("bob-1", 0, item)
			}
			l.wantStatus(item, federation.StatusDemoted)
		},
		"erased": func(l *lab, item ID) { l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: item}}, nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			l := fleet(t, "bob")
			_, item := l.shelve("author", "one")
			for range 8 {
				l.report("bob-1", federation.One, item)
			}
			l.promote(item)
			late := l.outcome(l.recall("bob-1", item), federation.One)
			end(l, item)
			before, counted := l.get(item), l.counter("citations")
			var out Reported
			l.do(KindOutcome, late, &out)
			if len(out.Citations) != 0 || len(out.Trust) != 0 || l.counter("citations") != counted {
				t.Errorf("cited %v, moved %v, %d citations in all, want %d", out.Citations, out.Trust, l.counter("citations"), counted)
			}
			if after := l.get(item); before != nil && (after.Trust.Trust != before.Trust.Trust || after.Status != before.Status) {
				t.Errorf("it was %s with trust %d and is %s with %d", before.Status, before.Trust.Trust, after.Status, after.Trust.Trust)
			}
			l.mustCheck()
		})
	}
}

func TestCurationOfWhatIsGoneOrChanged(t *testing.T) {
	l := fleet(t, "bob")
	_, erased := l.shelve("author", "one")
	_, revoked := l.shelve("author", "two")
	added := l.add("author", "three")
	l.do(KindErase, Erase{Receipt: l.id(), Target: Target{ID: erased}}, nil)
	l.do(KindCurate, Curate{Target: Target{ID: revoked}, Action: ActionRevoke, By: "admin"}, nil)
	for _, c := range []struct {
		name, code string
		body       Curate
	}{
		{"a hold on an erased item", "not_found", Curate{Target: Target{ID: erased}, Action: ActionHold}},
		{"a hold on a revoked item", "conflict", Curate{Target: Target{ID: revoked}, Action: ActionHold}},
		{"a release of what is not held", "conflict", Curate{Target: Target{ID: added.ID, Owner: added.Owner}, Action: ActionRelease}},
		{"another version", "precondition", Curate{Target: Target{ID: added.ID, Owner: added.Owner, Version: 9}, Action: ActionHold}},
		{"an unknown action", "invalid", Curate{Target: Target{ID: added.ID, Owner: added.Owner}, Action: "bless"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.t = t
			before := l.dump()
			l.refuse(KindCurate, c.body, c.code)
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
		})
	}
}

// TestTwoAnswersAtOnce: of two curators' answers in one batch of the log the first counts.
func TestTwoAnswersAtOnce(t *testing.T) {
	for _, first := range []bool{true, false} {
		l := fleet(t, "bob")
		l.do(KindSettings, Settings{Approval: "manual"}, nil)
		_, item := l.shelve("author", "one")
		for range 8 {
			l.report("bob-1", federation.One, item)
		}
		out, _ := l.promote(item)
		var log [][]byte
		for i, approve := range []bool{first, !first} {
			c := l.command(KindDecidePromotion, DecidePromotion{ID: out.Decision, Approve: approve, By: []string{"ada", "bea"}[i]})
			data, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, data)
		}
		at, _ := l.s.Applied()
		answers, err := l.s.Apply(at+1, 1, []int64{l.now, l.now}, log)
		if err != nil {
			t.Fatal(err)
		}
		for i, code := range []string{"", "conflict"} {
			r, err := DecodeResult(answers[i])
			if err != nil || (code == "") != (r.Reject == nil) || r.Reject != nil && r.Reject.Code != code {
				t.Errorf("answer %d: %+v, %v; want %q", i, r.Reject, err, code)
			}
		}
		want := map[bool]federation.Status{true: federation.StatusPromoted, false: federation.StatusDemoted}[first]
		l.wantStatus(item, want)
		l.mustCheck()
	}
}
