package consensus

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// TestMutationsAreCaught runs the tests that guard a safety measure with that
// measure switched off and expects them to fail. It takes a minute, so it runs
// only with CAIRN_MUTATIONS=1.
func TestMutationsAreCaught(t *testing.T) {
	if os.Getenv("CAIRN_MUTATIONS") == "" {
		t.Skip("set CAIRN_MUTATIONS=1 to run the suite with faults built in")
	}
	for name, tc := range map[string]struct {
		broken mutation
		run    string
	}{
		"acknowledge before the sync":         {mutationNoSync, "TestCrashes"},
		"linear read without asking":          {mutationNoVerify, "TestDeposedLeaderDoesNotAnswerReads"},
		"no table of repeated commands":       {mutationNoDedupe, "TestLinearizableUnderFaults"},
		"apply entries that are applied":      {mutationNoSkip, "TestCrashes"},
		"log does not say that it has no gap": {mutationHideMonotonic, "TestInstalledNodeGoesOn"},
		"apply before the own sync":           {mutationApplyEarly, "TestLeaderSendsWhileItSyncs"},
		"tell of commits before the own sync": {mutationTellEarly, "TestLeaderSendsWhileItSyncs"},
		"no wait for the own sync":            {mutationNoFlush, "TestOwnSyncBeforeAnotherLeadersEntries"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^"+tc.run+"$", "-test.timeout", "60s")
			cmd.Env = append(os.Environ(), "CAIRN_MUTATION="+strconv.Itoa(int(tc.broken)))
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("%s passed:\n%s", tc.run, out)
			}
		})
	}
}
