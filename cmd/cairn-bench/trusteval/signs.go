package trusteval

import (
	"cairn/federation"
	"cairn/node/store"
)

// watch looks for signs of collusion in the state as it stands: the shares of the honest principals and of the attacking
// ones that a sign names.
func (s *simulation) watch(f *figures) error {
	named := map[string]bool{}
	err := s.site.Read(func(v *store.View, ns *store.Namespace) error {
		list, err := v.Opinions(ns)
		for _, sign := range federation.Signs(list) {
			for _, m := range sign.Members {
				named[m] = true
			}
		}
		return err
	})
	f.namedHonest = namedOf(named, s.honest...)
	f.namedHostile = namedOf(named, s.attackers)
	return err
}

// namedOf is the share of the principals of some teams that are named; NaN for no principals.
func namedOf(named map[string]bool, teams ...[]*agent) float64 {
	of := map[string]bool{}
	for _, team := range teams {
		for _, a := range team {
			of[a.juror] = named[a.juror]
		}
	}
	n := 0
	for _, yes := range of {
		n += one(yes)
	}
	return ratio(n, len(of))
}
