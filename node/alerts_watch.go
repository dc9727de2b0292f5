package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cairn/node/api"
	"cairn/node/store"
)

// maxWatchShare bounds the part of the time that looking for alerts takes: after a look of a second the next one is at least
// this many seconds away.
const maxWatchShare = 20

// watch raises and clears alerts on the feed while this node leads.
func (n *Node) watch(ctx context.Context) {
	timer := time.NewTimer(n.cfg.AlertEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		began := time.Now()
		if n.group.IsLeader() {
			if err := n.lookForAlerts(ctx); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "look for alerts", "error", err)
			}
		}
		timer.Reset(max(n.cfg.AlertEvery, maxWatchShare*time.Since(began)))
	}
}

// lookForAlerts compares the signs of every namespace with its standing alerts and proposes the difference.
func (n *Node) lookForAlerts(ctx context.Context) error {
	v, err := n.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	if err := n.index.wait(ctx, v.Index()); err != nil { // signs about experiences come from the index
		return err
	}
	var failed []error
	err = v.Namespaces(nil, func(_ []byte, ns *store.Namespace) bool {
		if err := n.proposeAlerts(ctx, v, ns); err != nil {
			failed = append(failed, fmt.Errorf("alerts of namespace %s: %w", ns.ID, err))
		}
		return ctx.Err() == nil
	})
	return errors.Join(append(failed, err)...)
}

func (n *Node) proposeAlerts(ctx context.Context, v *store.View, ns *store.Namespace) error {
	found, err := n.signs(v, ns)
	if err != nil {
		return err
	}
	standing, err := v.Alerts(ns)
	if err != nil {
		return err
	}
	body := alertChanges(standing, found, v.Now()-n.cfg.AlertStands.Milliseconds())
	if len(body.Raise)+len(body.Clear) == 0 {
		return nil
	}
	body.Seen = v.Index()
	_, err = n.propose(ctx, api.Caller{}, api.Write{}, store.KindAlerts, ns.ID, body)
	if e := (*api.Error)(nil); errors.As(err, &e) && e.Code == api.CodePrecondition {
		return nil // another node was first; the next look sees what it did
	}
	return err
}

// alertChanges is what to raise and clear, at most as many as one command takes: the rest is for the next look. What was
// raised after young stays, so that a value about its limit does not fill the feed. What only one node sees of its own index
// is left out: another leader would see something else.
func alertChanges(standing map[string]store.StandingAlert, found []api.Alert, young int64) (out store.Alerts) {
	holds, perKind := map[string]bool{}, map[string]int{}
	for i := range found {
		holds[found[i].ID] = true
	}
	for _, a := range standing {
		perKind[a.Kind]++
	}
	for _, name := range slices.Sorted(maps.Keys(standing)) {
		if !holds[name] && standing[name].At <= young && len(out.Clear) < store.MaxAlertChanges {
			out.Clear = append(out.Clear, name)
		}
	}
	for i := range found {
		a := &found[i]
		_, stands := standing[a.ID]
		if stands || a.Kind == kindIndexRecall || perKind[a.Kind] >= alertsPerKind || len(out.Raise)+len(out.Clear) == store.MaxAlertChanges {
			continue
		}
		perKind[a.Kind]++
		out.Raise = append(out.Raise, store.RaisedAlert{
			Name: a.ID, Kind: a.Kind, Severity: a.Severity, Value: micro(a.Value), Limit: micro(a.Limit),
			Members: a.Members[:min(len(a.Members), store.MaxAlertMembers)], Experiences: firstIDs(a.Experiences),
		})
	}
	return out
}

func firstIDs(list []string) (out []store.ID) {
	for _, s := range list[:min(len(list), store.MaxAlertMembers)] {
		if id, err := parseID("experience", s); err == nil {
			out = append(out, id)
		}
	}
	return out
}

// alertID names a sign by its kind and by what it is about where that is one thing, so that it is the same sign at the next
// look and on another node, whatever its value has become.
func alertID(a *api.Alert) string {
	about := ""
	switch a.Kind {
	case "evidence_concentration", "burst":
		about = firstOf(a.Experiences, 1)
	case "reciprocity":
		about = firstOf(a.Members, 2)
	case "contrary_reports", "group_division", "recall_concentration", kindIndexRecall:
		about = firstOf(a.Members, 1)
	}
	if about == "" {
		return a.Kind
	}
	return a.Kind + "/" + about
}

func firstOf(list []string, n int) string { return strings.Join(list[:min(n, len(list))], "+") }
