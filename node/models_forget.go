package node

import (
	"context"
	"maps"
	"slices"

	"cairn/node/store"
)

// forget drops what models answered to a namespace's questions. Answers repeat what they were asked about.
func (m *models) forget(namespace string) {
	if m.client != nil {
		m.client.Forget(namespace)
	}
}

// forgetErased drops cached answers on this node when something is erased, wherever that was asked for. It follows the
// change log, as the index does.
func (n *Node) forgetErased(ctx context.Context) {
	if n.models.client == nil {
		return
	}
	at := uint64(0)
	for ctx.Err() == nil {
		changed := n.store.Changed()
		next, err := n.lookForErased(at)
		if err != nil && ctx.Err() == nil {
			n.log.WarnContext(ctx, "look for what was erased", "error", err)
		}
		if err == nil {
			at = next
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// lookForErased forgets the answers of namespaces in which a changed experience is gone, and gives the index that was
// looked at. What happened before the start is not cached.
func (n *Node) lookForErased(after uint64) (uint64, error) {
	v, err := n.store.View()
	if err != nil {
		return after, err
	}
	defer v.Close()
	if after == 0 {
		return v.Index(), nil
	}
	gone := map[uint32]bool{}
	oldest, err := v.OldestChange()
	if err != nil {
		return after, err
	}
	var failed error
	err = v.Changes(after, func(_ uint64, c *store.Change) bool {
		if c.Kind != store.ChangeExperience || gone[c.Namespace] {
			return true
		}
		e, err := v.ExperienceOf(c.Namespace, c.Owner, c.ID)
		failed = err
		gone[c.Namespace] = e == nil
		return err == nil
	})
	if err != nil || failed != nil {
		return after, firstError(err, failed)
	}
	missed := oldest > after+1 // changes that are not kept any more
	if !missed && !slices.Contains(slices.Collect(maps.Values(gone)), true) {
		return v.Index(), nil
	}
	err = v.Namespaces(nil, func(_ []byte, ns *store.Namespace) bool {
		if gone[ns.Number] || missed {
			n.models.forget(ns.ID)
		}
		return true
	})
	return v.Index(), err
}
