package consensus

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// restoreLoopLimit is how often one snapshot may be installed without progress
// before raft is started again.
const restoreLoopLimit = 3

// install puts the files received for record in place and marks them as used.
// It is repeated from the start after a crash at any point.
func (g *Group) install(record *snapshotRecord) error {
	if record.Pending == "" {
		return nil
	}
	m, err := g.incoming.manifest(record.Pending)
	if err == nil {
		err = g.run.install(record.Pending, g.incoming)
	}
	if err != nil {
		return fmt.Errorf("install snapshot %s: %w", record.id(), err)
	}
	g.metrics.restores.Inc()
	used := *record
	used.Pending = ""
	if err := g.snaps.put(&used); err != nil {
		return err
	}
	for _, ticket := range m.Restored {
		if ticketPattern.MatchString(ticket) {
			err = errors.Join(err, g.usedRestore(ticket))
		}
	}
	return errors.Join(err, g.incoming.clean(g.keptTickets))
}

// covered reports whether the state has the snapshot's index and the log the
// snapshot's last entry: then there is nothing to install, and appends can go
// on behind it.
func (g *Group) covered(req *raft.InstallSnapshotRequest) bool {
	var e raft.Log
	return g.run.applied.Load() >= req.LastLogIndex &&
		req.Term == g.inst.Load().raft.CurrentTerm() &&
		g.store.GetLog(req.LastLogIndex, &e) == nil && e.Term == req.LastLogTerm
}

// installed is runner's way to install: it runs on raft's goroutine, and a
// failure leaves a node that cannot go on.
//
// A log that does not end before the snapshot makes raft's memory wrong: it
// empties the log and keeps the index of the last entry. No request may reach
// it any more; a new run of raft reads the log and goes on.
func (g *Group) installed(record *snapshotRecord) error {
	last, err := g.store.LastIndex()
	if err == nil {
		err = g.install(record)
	}
	if err != nil {
		g.cfg.OnFatal(err)
		return err
	}
	if last >= record.Index {
		g.inst.Load().trans.stop()
		g.renewRaft("the log did not end before a snapshot that was installed", record.Index)
		return nil
	}
	g.watchRestores(record.Index)
	return nil
}

// install replaces the state by the copy named ticket.
func (r *runner) install(ticket string, in *incoming) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, err := in.manifest(ticket)
	if err != nil {
		return err
	}
	if err := r.sm.Install(in.path(ticket)); err != nil {
		return err
	}
	if err := r.sm.MakeDurable(); err != nil {
		return err
	}
	r.hashes.clear()
	r.refresh()
	r.log.Info("state installed", "index", m.Index, "files", len(m.Files), "bytes", m.Bytes())
	return nil
}

// watchRestores notices that raft installs one snapshot again and again
// (hashicorp/raft issue 697), for whatever reason installed does not know.
func (g *Group) watchRestores(index uint64) {
	g.restoreMu.Lock()
	defer g.restoreMu.Unlock()
	if index != g.restoreIndex {
		g.restoreIndex, g.restoreCount = index, 0
	}
	g.restoreCount++
	if g.restoreCount < restoreLoopLimit {
		return
	}
	g.restoreCount = 0
	g.renewRaft("one snapshot was installed again without progress", index)
}

// renewRaft replaces this run of raft soon: raft cannot be stopped from its own
// goroutine.
func (g *Group) renewRaft(why string, index uint64) {
	g.log.Warn("starting raft anew: "+why, "index", index)
	g.metrics.restarts.Inc()
	g.loops.Go(g.restartRaft)
}

// restartRaft replaces the run of raft by a new one on the same stores.
func (g *Group) restartRaft() {
	g.instMu.Lock()
	defer g.instMu.Unlock()
	select {
	case <-g.stop:
		return
	default:
	}
	g.inst.Load().stopNow()
	if err := g.reconcileLog(); err != nil {
		g.cfg.OnFatal(err)
		return
	}
	in, err := g.startInstance()
	if err != nil {
		g.cfg.OnFatal(fmt.Errorf("start raft again: %w", err))
		return
	}
	g.inst.Store(in)
	g.newsOfLeader()
}
