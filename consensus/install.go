package consensus

import "fmt"

// restoreLoopLimit is how often one snapshot may be installed without progress
// before raft is started again.
const restoreLoopLimit = 3

// install puts the files received for record in place and marks them as used.
// It is repeated from the start after a crash at any point.
func (g *Group) install(record *snapshotRecord) error {
	if record.Pending == "" {
		return nil
	}
	if err := g.run.install(record.Pending, g.incoming); err != nil {
		return fmt.Errorf("install snapshot %s: %w", record.id(), err)
	}
	g.metrics.restores.Inc()
	used := *record
	used.Pending = ""
	if err := g.snaps.put(&used); err != nil {
		return err
	}
	return g.incoming.clean(g.restoreTickets()...)
}

// installed is runner's way to install: it runs on raft's goroutine, and a
// failure leaves a node that cannot go on.
func (g *Group) installed(record *snapshotRecord) error {
	if err := g.install(record); err != nil {
		g.cfg.OnFatal(err)
		return err
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
// (hashicorp/raft issue 697): it keeps the index of its last entry in memory
// when it empties the log, and then refuses every append. A new start of raft
// reads the log and goes on.
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
	g.log.Warn("one snapshot was installed again without progress; starting raft anew", "index", index)
	g.metrics.restarts.Inc()
	// Raft cannot be stopped from its own goroutine.
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
	if err := g.dropCoveredLog(); err != nil {
		g.cfg.OnFatal(err)
		return
	}
	in, err := g.startInstance()
	if err != nil {
		g.cfg.OnFatal(fmt.Errorf("start raft again: %w", err))
		return
	}
	g.inst.Store(in)
	g.leaderChanged.notify()
}
