package consensus

import "testing"

// TestTurnsAfterALostLeader: every follower has its own turn, the leader none,
// and only an address where nobody listens counts as a leader that is gone.
func TestTurnsAfterALostLeader(t *testing.T) {
	c := newCluster(t, 3, nil)
	c.incs(c.leader(), 1)
	c.equalStates() // so that all know the leader and the members
	leader := c.leader()
	id := c.nodes[leader].id
	turns := map[int]bool{}
	for i, n := range c.nodes {
		turn := n.turnAfter(n.inst.Load(), id)
		if (turn < 0) != (i == leader) {
			t.Errorf("node %d of leader %d has turn %d", i, leader, turn)
		}
		turns[turn] = true
		if i != leader && n.refuses(testContext(t), n.inst.Load(), id) {
			t.Errorf("node %d takes a leader that listens for gone", i)
		}
	}
	if !turns[0] || !turns[1] {
		t.Errorf("turns are %v, want 0 and 1", turns)
	}
	// What a killed process leaves behind: nobody to hand over, no port.
	old := c.nodes[leader]
	old.inst.Load().stopNow()
	if err := old.mux.close(); err != nil {
		t.Fatal(err)
	}
	follower := c.nodes[(leader+1)%3]
	refused := follower.refuses(testContext(t), follower.inst.Load(), id)
	if now, _ := follower.leaderAt(follower.inst.Load().raft); string(now) == id && !refused {
		t.Error("a leader without a port counts as one that listens")
	}
	c.eventually("another leader", func() bool { return follower.IsLeader() || c.nodes[(leader+2)%3].IsLeader() })
}
