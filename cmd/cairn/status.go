package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"cairn/node/api"
)

type statusCmd struct{}

// nodeStatus is what `cairn status` prints. Cluster is nil when the key may not see it.
type nodeStatus struct {
	Addr    string       `json:"addr"`
	Ready   bool         `json:"ready"`
	Reason  string       `json:"reason,omitempty"`
	Cluster *api.Cluster `json:"cluster"`
	Stats   *api.Stats   `json:"stats"`
}

// Run reads readiness, cluster and counts. A node that answers but is not ready ends the command with code 5.
func (statusCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	s := nodeStatus{Addr: a.globals.Addr, Ready: true}
	ready := cl.Ready(a.ctx)
	if ready != nil {
		var e *api.Error
		if !errors.As(ready, &e) {
			return ready
		}
		s.Ready, s.Reason = false, e.Detail
	}
	if s.Cluster, err = permitted(cl.Cluster(a.ctx)); err != nil {
		return err
	}
	if s.Stats, err = permitted(cl.Stats(a.ctx)); err != nil {
		return err
	}
	if err := a.show(s, func(w io.Writer) { printStatus(w, s) }); err != nil {
		return err
	}
	return ready
}

// permitted turns "denied" into "nothing to show".
func permitted[T any](v T, err error) (*T, error) {
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeDenied {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &v, nil
}

func printStatus(w io.Writer, s nodeStatus) {
	state := "ready"
	if !s.Ready {
		state = "not ready: " + s.Reason
	}
	fmt.Fprintf(w, "node\t%s\t%s\n", s.Addr, state)
	if c := s.Cluster; c != nil {
		fmt.Fprintf(w, "site\t%s\tepoch %d, leader %s\n", c.Site, c.Epoch, c.Leader)
		for _, n := range c.Nodes {
			fmt.Fprintf(w, "  %s\t%s\t%s, applied %d, lag %d\n", n.ID, n.Address, n.Role, n.Applied, n.Lag)
		}
	}
	if st := s.Stats; st != nil {
		fmt.Fprintf(w, "agents\t%d\tof %d principals\n", st.Agents, st.Principals)
		fmt.Fprintf(w, "experiences\t%d\t%s\n", total(st.Experiences), counts(st.Experiences))
		fmt.Fprintf(w, "pools\t%d\t%s\n", total(st.Pools), counts(st.Pools))
		fmt.Fprintf(w, "counters\t\t%s\n", counts(st.Counters))
		fmt.Fprintf(w, "jobs\t%d\t%s\n", total(st.Jobs), counts(st.Jobs))
	}
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

// counts renders a map in the order of its keys, zeros left out.
func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
