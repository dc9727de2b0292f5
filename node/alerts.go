package node

import (
	"context"
	"fmt"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

const (
	hourMS        = int64(3_600_000)
	deadJobsLimit = 0
	alertsPerKind = 50
)

// Alerts computes signs of collusion and ill health from the present state. It acts on nothing.
func (n *Node) Alerts(_ context.Context, c api.Caller) (api.List[api.Alert], error) {
	out := api.List[api.Alert]{Items: []api.Alert{}}
	if !privileged(c) {
		return out, api.Denied("needs the role admin, curator or auditor")
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return out, err
	}
	defer v.Close()
	standing, err := v.Alerts(ns)
	if err != nil {
		return out, err
	}
	found, err := n.signs(v, ns)
	listed := map[string]int{}
	for _, a := range found {
		if s, ok := standing[a.ID]; ok {
			a.RaisedAt = api.Time(s.At)
		}
		if listed[a.Kind]++; listed[a.Kind] <= alertsPerKind {
			out.Items = append(out.Items, a)
		}
	}
	return out, err
}

// signs are all that a look at a namespace finds, each with its id.
func (n *Node) signs(v *store.View, ns *store.Namespace) ([]api.Alert, error) {
	opinions, err := v.Opinions(ns)
	if err != nil {
		return nil, err
	}
	var out []api.Alert
	for _, s := range federation.Signs(opinions) {
		out = append(out, alert(s.Kind, s.Value, s.Limit, s.Members, s.Items, "%s", s.Detail))
	}
	h, err := n.health(v, ns)
	if err != nil {
		return nil, err
	}
	out = append(out, h.alerts()...)
	dead, err := v.Counter(ns, "job/"+store.JobDead)
	if err != nil {
		return nil, err
	}
	if dead > deadJobsLimit {
		out = append(out, alert("dead_jobs", float64(dead), deadJobsLimit, nil, nil, "%d jobs gave up; see /v1/jobs?status=dead", dead))
	}
	for i := range out {
		out[i].ID = alertID(&out[i])
	}
	return out, nil
}

func alert(kind string, value, limit float64, members, items []string, format string, args ...any) api.Alert {
	return api.Alert{
		Kind: kind, Severity: "warning", Detail: fmt.Sprintf(format, args...), Members: orEmpty(members),
		Experiences: orEmpty(items), Value: value, Limit: limit,
	}
}
