package consensus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hashicorp/raft"
	"github.com/oklog/ulid/v2"
)

// A restore is an entry of the log. Every member gets the files first; the
// entry then makes all of them replace the state at the same index. Raft's own
// Restore changes the leader alone and leaves the rest to snapshots: if that
// leader dies, two histories exist.

// controlRestore in an entry's extensions marks a restore; the data is a
// restoreOrder.
var controlRestore = []byte{1}

// restoreOrder is what the entry says.
type restoreOrder struct {
	// Ticket names the copy that every member has received.
	Ticket string `json:"ticket"`
	// Command is applied on the restored state, at the entry's own index.
	Command []byte `json:"command,omitempty"`
}

// restoreMark is kept on disk while the state is being replaced, so that a
// crash in between is made good at the next start.
type restoreMark struct {
	Order  restoreOrder `json:"order"`
	Index  uint64       `json:"index"`
	Term   uint64       `json:"term"`
	TimeMs int64        `json:"time_ms"`
}

const keyRestore = 'r'

// Restore replaces the state of the whole site by the backup in r. The backup
// is read and checked on every member before anything changes: all members
// must be reachable. A log that is shorter than the backup's index is filled up
// first, so that indexes never go back. command is applied on the restored
// state at the same index, for example to begin a new epoch; nil for none. What
// was written after the backup is gone; commands under way may end with
// ErrOutcomeUnknown. Errors wrap ErrCorrupt or ErrNewerFormat when the backup
// cannot be used.
func (g *Group) Restore(ctx context.Context, r io.Reader, command []byte) (Result, error) {
	if err := g.enter(); err != nil {
		return Result{}, err
	}
	defer g.leave()
	if len(command) > MaxCommandBytes/2 {
		return Result{}, fmt.Errorf("restore: command: %w", ErrTooLarge)
	}
	ticket := ulid.Make().String()
	if err := g.expectRestore(ticket); err != nil {
		return Result{}, fmt.Errorf("restore: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, restoreWait/2) // the copies are kept for longer
	defer cancel()
	m, err := g.prepareRestore(ctx, ticket, r)
	if err != nil {
		g.dropRestore(func(t string) bool { return t == ticket })
		return Result{}, fmt.Errorf("restore: %w", err)
	}
	order, err := json.Marshal(restoreOrder{Ticket: ticket, Command: command})
	if err != nil {
		return Result{}, fmt.Errorf("restore: %w", err)
	}
	g.log.Info("restoring the site from a backup", "index", m.Index, "bytes", m.Bytes())
	return g.proposeWith(ctx, proposal{data: order, extensions: controlRestore, freeing: true})
}

// prepareRestore brings the copy to every member and the log to its index.
func (g *Group) prepareRestore(ctx context.Context, ticket string, r io.Reader) (Manifest, error) {
	m, err := g.incoming.receiveFile(ticket, g.keptTickets, r)
	sent := map[raft.ServerID]bool{raft.ServerID(g.id): true}
	if err == nil {
		err = g.distribute(ctx, ticket, m, sent)
	}
	if err == nil {
		err = g.fillLog(ctx, m.Index)
	}
	if err == nil {
		err = g.distribute(ctx, ticket, m, sent) // to who joined meanwhile
	}
	return m, err
}

// distribute brings the copy to every member that sent does not have. A member
// without it could not apply the entry, and this node may be behind: it first
// learns of everyone who is a member now.
func (g *Group) distribute(ctx context.Context, ticket string, m Manifest, sent map[raft.ServerID]bool) error {
	for {
		if err := g.Barrier(ctx); err != nil {
			return fmt.Errorf("learn who is a member: %w", err)
		}
		members := g.inst.Load().members()
		if !slices.ContainsFunc(members, func(s raft.Server) bool { return string(s.ID) == g.id }) {
			return errors.New("this node does not know the members; try again")
		}
		before := len(sent)
		for _, s := range members {
			if sent[s.ID] {
				continue
			}
			addr := g.addrs.resolve(s.ID, s.Address)
			_, _, err := g.offerState(ctx, addr, purposeRestore, m.Index, ticket, func(w io.Writer) error {
				return writeArchive(w, g.cfg.fs, g.incoming.path(ticket), m)
			})
			if err != nil {
				return fmt.Errorf("node %s did not get the backup: %w", s.ID, err)
			}
			sent[s.ID] = true
		}
		if len(sent) == before {
			return nil
		}
	}
}

// maxRestores is how many copies may wait for their entries at once. One that
// came first is never given up for a later one: its entry may be in the log.
const maxRestores = 4

// expectRestore remembers a ticket that an entry may refer to.
func (g *Group) expectRestore(ticket string) error {
	g.restoreMu.Lock()
	defer g.restoreMu.Unlock()
	if len(g.expected) >= maxRestores {
		return fmt.Errorf("%d restores are under way already", len(g.expected))
	}
	g.expected = append(g.expected, ticket)
	return nil
}

// restoreWait is how long a copy waits for its entry, which follows at once
// unless the restore was given up.
const restoreWait = time.Hour

// dropOldRestores removes copies whose entry never came, and those that no
// snapshot followed: a leader that fell after it sent one says nothing more.
func (g *Group) dropOldRestores(now time.Time) {
	old := func(ticket string) bool {
		id, err := ulid.ParseStrict(ticket)
		return err != nil || now.Sub(ulid.Time(id.Time())) > restoreWait
	}
	g.dropRestore(old)
	if slices.ContainsFunc(g.incoming.complete(), old) {
		g.cleanIncoming()
	}
}

// dropRestore forgets the tickets that match and removes their copies.
func (g *Group) dropRestore(match func(ticket string) bool) {
	g.restoreMu.Lock()
	before := len(g.expected)
	g.expected = slices.DeleteFunc(g.expected, match)
	changed := len(g.expected) != before
	g.restoreMu.Unlock()
	if changed {
		g.cleanIncoming()
	}
}

func (g *Group) cleanIncoming() {
	if err := g.incoming.clean(g.keptTickets); err != nil {
		g.log.Warn("remove copies of the state that nobody needs", "error", err)
	}
}

// unusedCopy removes a copy that came although this node had got the entries
// meanwhile.
func (g *Group) unusedCopy(ticket string) {
	if !ticketPattern.MatchString(ticket) || ticket == noTicket || slices.Contains(g.keptTickets(), ticket) {
		return
	}
	if err := g.incoming.remove(ticket); err != nil {
		g.log.Warn("remove a copy of the state that nobody needs", "error", err)
	}
}

func (g *Group) restoreTickets() []string {
	g.restoreMu.Lock()
	defer g.restoreMu.Unlock()
	return slices.Clone(g.expected)
}

// applyRestore is called by the runner for a restore entry, with its mutex
// held.
func (g *Group) applyRestore(e *raft.Log) ([]byte, error) {
	mark := restoreMark{Index: e.Index, Term: e.Term, TimeMs: e.AppendedAt.UnixMilli()}
	if err := json.Unmarshal(e.Data, &mark.Order); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if _, err := g.incoming.manifest(mark.Order.Ticket); err != nil {
		return nil, fmt.Errorf("restore: this node did not get the backup; remove its data folder and let it join anew: %w", err)
	}
	// Here the state is the old one for the last time: a crash after the mark
	// finds either state.
	if s, ok := g.run.sm.(Restorer); ok {
		command, err := s.BeforeRestore(mark.Order.Command)
		if err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		mark.Order.Command = command
	}
	raw, err := json.Marshal(mark)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := g.store.write([]byte{keyRestore}, raw); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	value, err := g.finishRestore(mark)
	if err != nil {
		return nil, err
	}
	// The entries before this one mean nothing any more. A node that replayed
	// them would need the backup, so they leave the log at once.
	g.loops.Go(g.compactAll)
	return value, nil
}

// finishRestore does what a mark says. It may run again after a crash.
func (g *Group) finishRestore(mark restoreMark) ([]byte, error) {
	if err := g.run.sm.Install(g.incoming.path(mark.Order.Ticket)); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	results, err := g.run.sm.Apply(mark.Index, mark.Term, []int64{mark.TimeMs}, [][]byte{mark.Order.Command})
	if err == nil && len(results) != 1 {
		err = fmt.Errorf("%d results for 1 command", len(results))
	}
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := g.run.sm.MakeDurable(); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	if err := g.store.remove([]byte{keyRestore}); err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	g.run.hashes.clear()
	g.metrics.restores.Inc()
	g.log.Info("state restored from a backup", "index", mark.Index)
	return results[0], g.usedRestore(mark.Order.Ticket)
}

// usedRestore forgets a ticket whose entry has come, here or in a state that
// was sent, and removes its copy.
func (g *Group) usedRestore(ticket string) error {
	g.restoreMu.Lock()
	g.expected = slices.DeleteFunc(g.expected, func(t string) bool { return t == ticket })
	if !slices.Contains(g.restored, ticket) {
		g.restored = append(g.restored, ticket)
		g.restored = g.restored[max(0, len(g.restored)-maxRestores):]
	}
	g.restoreMu.Unlock()
	return g.incoming.remove(ticket)
}

// restoredTickets are the last restores that are part of the state.
func (g *Group) restoredTickets() []string {
	g.restoreMu.Lock()
	defer g.restoreMu.Unlock()
	return slices.Clone(g.restored)
}

// resumeRestore finishes a restore that a crash interrupted.
func (g *Group) resumeRestore() error {
	raw, err := g.store.read([]byte{keyRestore})
	if errors.Is(err, errNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read restore mark: %w", err)
	}
	var mark restoreMark
	if err := json.Unmarshal(raw, &mark); err != nil {
		return fmt.Errorf("read restore mark: %w: %w", ErrCorrupt, err)
	}
	if err := g.incoming.verify(mark.Order.Ticket); err != nil {
		return err
	}
	if _, err := g.finishRestore(mark); err != nil {
		return err
	}
	g.run.refresh()
	return nil
}

// compactAll removes everything from the log that the state has. Raft refuses
// while a change of members is under way, so it is tried a few times.
func (g *Group) compactAll() {
	for range 10 {
		changed := g.leaderChanged.next()
		in := g.inst.Load()
		none := in.raft.ReloadableConfig()
		none.TrailingLogs = 0
		usual := none
		usual.TrailingLogs = g.cfg.trailing()
		err := in.raft.ReloadConfig(none)
		if err == nil {
			err = in.raft.Snapshot().Error()
			err = errors.Join(err, in.raft.ReloadConfig(usual))
		}
		if err == nil || errors.Is(err, raft.ErrNothingNewToSnapshot) {
			return
		}
		g.log.Debug("compact the log", "error", err)
		if g.awaitChange(context.Background(), changed) != nil {
			return
		}
	}
	g.log.Warn("the log could not be compacted after a restore")
}
