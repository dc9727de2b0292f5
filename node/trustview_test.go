package node

import (
	"context"
	"testing"
)

// TestEvidenceThatIsLeftOff: an answer of bounded size says how much it leaves off.
func TestEvidenceThatIsLeftOff(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	ann, bob := s.agent("ann-1", "ann"), s.agent("bob-1", "bob")
	_, candidate := s.shared(ann)
	const more = 3
	for group := range evidenceShown + more {
		if !s.try(bob, candidate, group, group%2 == 0) {
			t.Fatalf("not shown in group %d", group)
		}
	}
	d, err := s.node.Trust(ctx, s.admin, candidate)
	if err != nil || len(d.Evidence) != evidenceShown || d.LeftOff != more || d.Citations != evidenceShown+more {
		t.Errorf("%d citations, %d shown, %d left off, %v", d.Citations, len(d.Evidence), d.LeftOff, err)
	}
	if d, err = s.node.Trust(ctx, bob, candidate); err != nil || len(d.Evidence) != 0 || d.LeftOff != 0 || d.Citations != evidenceShown+more {
		t.Errorf("an agent sees %+v, %v", d, err)
	}
}
