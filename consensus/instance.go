package consensus

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// instance is one run of raft on the group's stores.
type instance struct {
	raft  *raft.Raft
	trans *transport
	done  chan struct{}
	loops sync.WaitGroup
	once  sync.Once
}

func (g *Group) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(g.id)
	c.HeartbeatTimeout = g.cfg.HeartbeatTimeout
	c.ElectionTimeout = g.cfg.HeartbeatTimeout
	c.LeaderLeaseTimeout = g.cfg.LeaseTimeout
	c.CommitTimeout = min(c.CommitTimeout, g.cfg.HeartbeatTimeout/2)
	if g.cfg.commitTimeout > 0 {
		c.CommitTimeout = g.cfg.commitTimeout
	}
	c.MaxAppendEntries = 256
	c.BatchApplyCh = true
	c.TrailingLogs = g.cfg.trailing()
	c.SnapshotThreshold = g.cfg.SnapshotEntries
	c.SnapshotInterval = g.cfg.SnapshotInterval
	c.NoLegacyTelemetry = true
	c.Logger = newRaftLogger(g.log)
	// A leader that is removed goes on as a follower without a vote; the group
	// stops it once it has learnt about its removal.
	c.ShutdownOnRemove = false
	// The state is on disk and knows its index; raft only needs the metadata.
	c.NoSnapshotRestoreOnStart = true
	// RestoreCommittedLogs stays off: raft 1.8.0 then starts its scan for
	// configurations after the committed index and forgets the members.
	return c
}

// startInstance starts raft, after forming a new site where asked to.
func (g *Group) startInstance() (*instance, error) {
	cfg := g.raftConfig()
	trans := g.newTransport()
	err := g.forgetHalfBootstrap()
	if err == nil {
		err = g.bootstrapAlone(cfg, trans)
	}
	if err != nil {
		_ = trans.close()
		return nil, err
	}
	r, err := raft.NewRaft(cfg, g.run, g.store, g.store, g.snaps, trans)
	if err != nil {
		_ = trans.close()
		return nil, fmt.Errorf("start raft: %w", err)
	}
	in := &instance{raft: r, trans: trans, done: make(chan struct{})}
	in.loops.Go(func() { g.watchLeader(in) })
	return in, nil
}

// forgetHalfBootstrap undoes a bootstrap that a crash interrupted. Raft first
// stores term 1 and then the configuration; with only the former it takes the
// folder for one in use and waits for ever. Nothing else leaves term 1 behind
// without an entry: the first election has term 2.
func (g *Group) forgetHalfBootstrap() error {
	last, err := g.store.LastIndex()
	if err != nil || last > 0 || g.snaps.latest() != nil {
		return err
	}
	term, err := g.store.GetUint64(raftTermKey)
	if errors.Is(err, errNotFound) || err == nil && term != 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read term: %w", err)
	}
	return g.store.remove(stableKey(raftTermKey))
}

// raftTermKey is the name under which raft keeps its term.
var raftTermKey = []byte("CurrentTerm")

// bootstrapAlone writes the first configuration with this node as only member,
// if that is what the operator asked for and there is nothing in Dir yet.
func (g *Group) bootstrapAlone(cfg *raft.Config, trans *transport) error {
	if g.cfg.BootstrapExpect != 1 || len(g.cfg.Join) > 0 {
		return nil
	}
	has, err := raft.HasExistingState(g.store, g.store, g.snaps)
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	if has {
		return nil
	}
	members := raft.Configuration{Servers: []raft.Server{{
		Suffrage: raft.Voter, ID: cfg.LocalID, Address: trans.LocalAddr(),
	}}}
	if err := raft.BootstrapCluster(cfg, g.store, g.store, g.snaps, trans, members); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	g.log.Info("new site of one node", "address", string(trans.LocalAddr()))
	return nil
}

// members is the newest configuration, committed or not.
func (in *instance) members() []raft.Server {
	f := in.raft.GetConfiguration()
	if f.Error() != nil {
		return nil
	}
	return f.Configuration().Servers
}

// aloneInSite reports whether id is the only voter.
func (in *instance) aloneInSite(id raft.ServerID) bool {
	voters := 0
	self := false
	for _, s := range in.members() {
		if s.Suffrage == raft.Voter {
			voters++
			self = self || s.ID == id
		}
	}
	return voters == 1 && self
}

// electNow starts an election at once instead of after the silence that a
// follower has to wait for: nobody else could lead.
func (g *Group) electNow(in *instance) {
	in.trans.inject(&raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax,
		ID:              []byte(g.id),
		Addr:            []byte(in.trans.LocalAddr()),
	}})
}

// stopNow ends this run of raft and everything that belongs to it.
func (in *instance) stopNow() {
	in.once.Do(func() {
		in.trans.shut()
		// Shutdown's future also closes the transport.
		_ = in.raft.Shutdown().Error()
		_ = in.trans.close()
		close(in.done)
	})
	in.loops.Wait()
}
