package consensus

// mutation switches off one safety measure, so that the tests can show that
// they notice. No real node sets one.
type mutation int

const (
	mutationNone          mutation = iota
	mutationNoSync                 // acknowledge before the log is on disk
	mutationNoVerify               // serve linear reads without asking the quorum
	mutationNoDedupe               // forget answers of repeated commands (test state machine)
	mutationNoSkip                 // apply entries that the state already has
	mutationHideMonotonic          // do not tell raft that the log has no gaps
	mutationApplyEarly             // apply what only others have on disk
	mutationTellEarly              // tell followers of commits that are not on the leader's disk
	mutationNoFlush                // acknowledge another leader's entries while the own sync is under way
)
