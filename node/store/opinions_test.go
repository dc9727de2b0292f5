package store

import (
	"testing"

	"cairn/federation"
)

// TestOpinions: what jurors report is there with its time, what agents of one owner say among themselves is not.
func TestOpinions(t *testing.T) {
	l := fleet(t, "bob", "carol")
	_, item := l.shelve("author", "one")
	l.report("bob-1", federation.One, item)
	l.now += hour
	l.report("carol-1", 0, item)
	l.read(func(v *View, ns *Namespace) {
		list, err := v.Opinions(ns)
		if err != nil || len(list) != 1 {
			t.Fatalf("%+v, %v", list, err)
		}
		o := list[0]
		if o.Item != item.String() || o.Author != "principal:alice" || o.Recalled != 2*federation.One || len(o.Reports) != 2 {
			t.Fatalf("got %+v", o)
		}
		bob, carol := o.Reports[0], o.Reports[1]
		if bob.Juror == "principal:carol" {
			bob, carol = carol, bob
		}
		if bob.Juror != "principal:bob" || carol.Juror != "principal:carol" || bob.Mass != federation.One || bob.Lift <= carol.Lift || carol.At-bob.At != hour {
			t.Errorf("reports %+v", o.Reports)
		}
	})
	e := l.must(item)
	for _, c := range []struct {
		unit   string
		status federation.Status
		want   bool
	}{
		{"", federation.StatusCandidate, true}, {"", federation.StatusPromoted, true}, {UnitAgent, federation.StatusPromoted, false},
		{"", federation.StatusDemoted, false}, {"", federation.StatusRevoked, false}, {"", federation.StatusDormant, false},
	} {
		e.Unit, e.Status = c.unit, c.status
		if got := e.onTrial(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
