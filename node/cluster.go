package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"cairn/consensus"
	"cairn/node/api"
	"cairn/node/store"
)

// machine is the state as consensus drives it: the store, with its hash to compare between nodes.
type machine struct{ *store.Store }

var (
	_ consensus.StateHasher    = machine{}
	_ consensus.StateFormatter = machine{}
	_ consensus.Restorer       = machine{}
)

// StateHash is the hash chained over all commands applied.
func (m machine) StateHash() []byte {
	_, hash := m.Hash()
	return hash[:]
}

// StateFormat is the version of the state's values.
func (m machine) StateFormat() int { return store.FormatVersion }

// BeforeRestore lets the epoch that a restore begins be above the one that stands when it happens: another restore may have
// come first.
func (m machine) BeforeRestore(data []byte) ([]byte, error) {
	var cmd store.Command
	if err := store.DecodeBody(data, &cmd); err != nil || cmd.Kind != store.KindBumpEpoch {
		return data, err
	}
	var bump store.BumpEpoch
	if err := store.DecodeBody(cmd.Body, &bump); err != nil {
		return nil, err
	}
	v, err := m.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	site, err := v.Site()
	if err != nil {
		return nil, err
	}
	if site != nil {
		bump.Above = max(bump.Above, site.Epoch)
	}
	return bumpEpoch(bump)
}

// bumpEpoch is the command that is applied on a restored state.
func bumpEpoch(bump store.BumpEpoch) ([]byte, error) {
	cmd, err := store.NewCommand(store.KindBumpEpoch, "", bump)
	if err != nil {
		return nil, err
	}
	return cmd.Encode()
}

// Removed is closed when the site has removed this node: the process should end then.
func (n *Node) Removed() <-chan struct{} { return n.group.Removed() }

// needOperator lets admins of the default namespace pass.
func needOperator(c api.Caller) error {
	if !siteAdmin(c) {
		return api.Denied("needs the role admin in the namespace " + store.DefaultNamespace)
	}
	return nil
}

// Cluster shows the Raft group.
func (n *Node) Cluster(_ context.Context, c api.Caller) (api.Cluster, error) {
	v, _, err := n.openFor(c)
	if err != nil {
		return api.Cluster{}, err
	}
	defer v.Close()
	site, err := v.Site()
	if err != nil {
		return api.Cluster{}, err
	}
	status := n.group.Status()
	out := api.Cluster{Leader: status.Leader, Nodes: []api.ClusterNode{}}
	if site != nil {
		out.Site, out.Epoch = site.ID, site.Epoch
	}
	for _, x := range status.Nodes {
		out.Nodes = append(out.Nodes, api.ClusterNode{
			ID: x.ID, Address: x.Address, Role: x.Role, Applied: x.Applied, Lag: x.Lag, Healthy: x.Healthy,
		})
	}
	return out, nil
}

// AddNode says what a new node is started with, and how far it is with joining. Nodes take themselves in: a member that
// was never started would only cost the site its majority.
func (n *Node) AddNode(ctx context.Context, c api.Caller, req api.AddNode) (api.AddedNode, error) {
	if err := needOperator(c); err != nil {
		return api.AddedNode{}, err
	}
	if host, port, err := net.SplitHostPort(req.Address); err != nil || host == "" || port == "" {
		return api.AddedNode{}, api.Invalid("body.address", "must be host:port", clip(req.Address))
	}
	cluster, err := n.Cluster(ctx, c)
	if err != nil {
		return api.AddedNode{}, err
	}
	out := api.AddedNode{Join: []string{}}
	for _, x := range cluster.Nodes {
		if x.Address != req.Address {
			out.Join = append(out.Join, x.Address)
			continue
		}
		out.Node, out.Joined = &x, x.Role != consensus.RoleNonvoter
	}
	return out, nil
}

// RemoveNode takes a node out of the site. Removing the leader moves the leadership first.
func (n *Node) RemoveNode(ctx context.Context, c api.Caller, id string) (api.Done[struct{}], error) {
	if err := needOperator(c); err != nil {
		return api.Done[struct{}]{}, err
	}
	node, voters := n.member(id)
	switch {
	case node == nil:
		return api.Done[struct{}]{}, api.NotFound("node")
	case node.Role != consensus.RoleNonvoter && voters == 1:
		return api.Done[struct{}]{}, api.Conflict("the last node with a vote cannot be removed")
	}
	if err := n.group.RemoveNode(ctx, id); err != nil {
		return api.Done[struct{}]{}, memberError(err)
	}
	return api.Done[struct{}]{Index: n.group.Applied()}, nil
}

// TransferLeadership makes another node the leader.
func (n *Node) TransferLeadership(ctx context.Context, c api.Caller, req api.Transfer) (api.Done[api.Cluster], error) {
	if err := needOperator(c); err != nil {
		return api.Done[api.Cluster]{}, err
	}
	node, voters := n.member(req.To)
	switch {
	case req.To != "" && node == nil:
		return api.Done[api.Cluster]{}, api.NotFound("node")
	case node != nil && node.Role == consensus.RoleNonvoter:
		return api.Done[api.Cluster]{}, api.Conflict("the node has no vote yet")
	case node == nil && voters < 2:
		return api.Done[api.Cluster]{}, api.Conflict("there is no other node with a vote")
	}
	if err := n.group.TransferLeadership(ctx, req.To); err != nil {
		return api.Done[api.Cluster]{}, memberError(err)
	}
	if err := n.group.Barrier(ctx); err != nil { // this node, too, knows the new leader
		return api.Done[api.Cluster]{}, memberError(err)
	}
	cluster, err := n.Cluster(ctx, c)
	return api.Done[api.Cluster]{Value: cluster, Index: n.group.Applied()}, err
}

// member finds a node of the site and counts those with a vote.
func (n *Node) member(id string) (found *consensus.NodeStatus, voters int) {
	for _, x := range n.group.Status().Nodes {
		if x.Role != consensus.RoleNonvoter {
			voters++
		}
		if x.ID == id {
			found = &x
		}
	}
	return found, voters
}

// memberError says that a change of the site was not made, or not seen to be made.
func memberError(err error) error {
	if known := proposeError(err); api.AsError(known).Code != api.CodeInternal {
		return known
	}
	return api.Unavailable("the change was not made; look at the cluster's status and try again", time.Second, err)
}

// Backup writes a copy of the site's state while writes go on: everything acknowledged before it began.
func (n *Node) Backup(ctx context.Context, c api.Caller, w io.Writer) error {
	if err := needOperator(c); err != nil {
		return err
	}
	if err := n.group.Barrier(ctx); err != nil {
		return proposeError(err)
	}
	site, err := n.site()
	if err != nil || site == nil {
		return orDefault(err, api.Unavailable("the site is not bootstrapped", time.Second, nil))
	}
	_, err = n.group.Backup(ctx, w, site.ID, site.Epoch)
	return err
}

// Restore replaces the state of the whole site by a backup. The new epoch makes feeds say that there is a gap.
func (n *Node) Restore(ctx context.Context, c api.Caller, r io.Reader, dryRun bool) (api.Restored, error) {
	if err := needOperator(c); err != nil {
		return api.Restored{}, err
	}
	n.restoring.Lock()
	defer n.restoring.Unlock()
	copied, err := n.spool(r)
	if err != nil {
		return api.Restored{}, err
	}
	defer copied.discard()
	out := api.Restored{DryRun: dryRun, Backup: renderBackup(copied.manifest)}
	site, err := n.site()
	if err != nil || site == nil {
		return out, orDefault(err, api.Unavailable("the site is not bootstrapped", time.Second, nil))
	}
	if dryRun {
		out.Site, out.Epoch, out.Index = site.ID, site.Epoch, n.group.Applied()
		return out, nil
	}
	return n.replace(ctx, out, copied, site.Epoch)
}

// replace has the site's members take over the copy, and waits until this node answers from it.
func (n *Node) replace(ctx context.Context, out api.Restored, copied *spooled, epoch uint64) (api.Restored, error) {
	data, err := bumpEpoch(store.BumpEpoch{Above: epoch})
	if err != nil {
		return out, err
	}
	res, err := n.group.Restore(ctx, copied.file, data)
	if err != nil {
		return out, restoreError(err)
	}
	result, err := store.DecodeResult(res.Value)
	if err != nil {
		return out, err
	}
	if result.Reject != nil {
		return out, rejectError(result.Reject)
	}
	var bumped store.Bumped
	if err := store.DecodeBody(result.Body, &bumped); err != nil {
		return out, err
	}
	out.Site, out.Epoch, out.Index = bumped.Site, bumped.Epoch, res.Index
	n.log.InfoContext(ctx, "site restored from a backup", "site", out.Site, "epoch", out.Epoch, "index", out.Index)
	if err := n.index.wait(ctx, res.Index); err != nil {
		return out, api.Unavailable("the site is restored; this node still indexes it", time.Second, err)
	}
	return out, nil
}

func restoreError(err error) error {
	switch {
	case errors.Is(err, consensus.ErrCorrupt):
		return damaged(err)
	case errors.Is(err, consensus.ErrNewerFormat):
		return newerBackup(err)
	}
	if known := proposeError(err); api.AsError(known).Code != api.CodeInternal {
		return known
	}
	return api.Unavailable("nothing was restored: every node of the site must be reachable", time.Second, err)
}

func damaged(err error) error {
	e := api.Invalid("body", "is no whole and unaltered backup: nothing was changed", nil)
	e.Cause = fmt.Errorf("read backup: %w", err)
	return e
}

func newerBackup(err error) error {
	e := api.Invalid("body", "is a backup of a newer version of Cairn; upgrade every node first: nothing was changed", nil)
	e.Cause = fmt.Errorf("read backup: %w", err)
	return e
}

func renderBackup(m consensus.Manifest) api.Backup {
	return api.Backup{
		Site: m.Site, Epoch: m.Epoch, Index: m.Index, Term: m.Term, Format: m.Format, Files: len(m.Files), Bytes: m.Bytes(),
		CreatedAt: api.Time(m.CreatedMs),
	}
}
