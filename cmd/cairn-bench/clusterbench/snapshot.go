package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"cairn/consensus"
)

// The state of the snapshot rows, and how many of its values are written anew before each snapshot: as many as Cairn
// lets pass between two.
const (
	stateValues   = 100_000
	changedValues = 8192
	valuesAtOnce  = 100
)

// member is a node of Cairn in this process.
type member struct {
	dir   string
	state *kv
	group *consensus.Group
}

func openMember(ctx context.Context, dir string, join []string) (*member, error) {
	state, err := openKV(filepath.Join(dir, "state"))
	if err != nil {
		return nil, err
	}
	cfg := consensus.Config{
		Dir: filepath.Join(dir, "raft"), PeerAddr: "127.0.0.1:0", PeerInsecure: true, Join: join, TrailingEntries: -1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if len(join) == 0 {
		cfg.BootstrapExpect = 1
	}
	group, err := consensus.Open(ctx, cfg, state)
	if err != nil {
		return nil, errors.Join(err, state.close())
	}
	return &member{dir: dir, state: state, group: group}, nil
}

func (m *member) close() error { return errors.Join(m.group.Close(), m.state.close()) }

// write puts n values, starting with key number from.
func (m *member) write(ctx context.Context, from, n int) error {
	for end := from + n; from < end; from += valuesAtOnce {
		command := make([]byte, 0, valuesAtOnce*(valueBytes+32))
		for i := from; i < min(end, from+valuesAtOnce); i++ {
			command = appendPut(command, keyName(i%stateValues), randomValue(valueBytes))
		}
		if _, err := m.group.Propose(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// snapshots compares snapshots, then how an empty node gets the state.
func (b *bench) snapshots(ctx context.Context) error {
	m, err := openMember(ctx, filepath.Join(b.dir, "member"), nil)
	if err != nil {
		return err
	}
	if err := m.write(ctx, 0, stateValues); err != nil {
		return errors.Join(err, m.close())
	}
	err = b.snapshotRounds(ctx, m)
	if err == nil {
		err = b.catchUpRounds(ctx, m)
	}
	return errors.Join(err, m.close())
}

func (b *bench) snapshotRounds(ctx context.Context, m *member) error {
	var thin, dumped rounds
	files, err := raft.NewFileSnapshotStore(filepath.Join(b.dir, "dumps"), 1, io.Discard)
	if err != nil {
		return err
	}
	for round := range b.sizes.snapshots {
		if err := m.write(ctx, round*changedValues, changedValues); err != nil {
			return err
		}
		start := time.Now()
		if err := m.group.Compact(); err != nil {
			return err
		}
		thin = append(thin, time.Since(start).Seconds()*1e3)
		start = time.Now()
		if err := dumpTo(m.state, files); err != nil {
			return err
		}
		dumped = append(dumped, time.Since(start).Seconds()*1e3)
		b.Progress(fmt.Sprintf("snapshot %.1f ms, dump %.0f ms", last(thin), last(dumped)))
	}
	b.out.put("snapshot_vs_dump", thin.over(dumped), nil)
	b.out.put("snapshot_ms", thin, new(dumped.median()))
	return nil
}

func dumpTo(state *kv, files *raft.FileSnapshotStore) error {
	index, term := state.Applied()
	sink, err := files.Create(raft.SnapshotVersionMax, index, term, raft.Configuration{}, 0, nil)
	if err != nil {
		return err
	}
	d := dump{state.db.NewSnapshot()}
	defer d.Release()
	return d.Persist(sink)
}

// catchUpRounds lets an empty node join the member, and one join a node of hashicorp/raft that has the same state.
func (b *bench) catchUpRounds(ctx context.Context, m *member) error {
	theirs, err := b.dumpedCopy(m)
	if err != nil {
		return err
	}
	defer func() { _ = theirs.close() }()
	var ours, restored rounds
	for round := range b.sizes.snapshots {
		v, err := b.join(ctx, m, round)
		if err != nil {
			return err
		}
		w, err := b.joinDumped(ctx, theirs, round)
		if err != nil {
			return err
		}
		ours, restored = append(ours, v), append(restored, w)
		b.Progress(fmt.Sprintf("catch-up %.0f ms, with a dump %.0f ms", v, w))
	}
	b.out.put("catchup_vs_restore", ours.over(restored), nil)
	b.out.put("catchup_ms", ours, new(restored.median()))
	return nil
}

// join gives the milliseconds from opening an empty node to its having the member's state.
func (b *bench) join(ctx context.Context, m *member, round int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	dir := filepath.Join(b.dir, fmt.Sprintf("joiner-%d", round))
	defer removeAll(dir)
	if err := m.group.Compact(); err != nil {
		return 0, err
	}
	target := m.group.Applied()
	start := time.Now()
	j, err := openMember(ctx, dir, []string{m.group.PeerAddr()})
	if err != nil {
		return 0, err
	}
	if err := j.group.WaitApplied(ctx, target); err != nil {
		return 0, errors.Join(fmt.Errorf("join: %w", err), j.close())
	}
	ms := time.Since(start).Seconds() * 1e3
	if value, err := j.state.get([]byte(keyName(stateValues - 1))); err != nil || len(value) != valueBytes {
		return 0, errors.Join(fmt.Errorf("joined node lacks a value: %w", err), j.close())
	}
	err = m.group.RemoveNode(ctx, j.group.NodeID())
	return ms, errors.Join(err, j.close())
}

// dumpedCopy is a leader of hashicorp/raft with the member's state and a snapshot of it.
func (b *bench) dumpedCopy(m *member) (*dumpNode, error) {
	n, err := newDumpNode(filepath.Join(b.dir, "dumped"), "leader")
	if err != nil {
		return nil, err
	}
	pipe, w := io.Pipe()
	go func() {
		d := dump{m.state.db.NewSnapshot()}
		defer d.Release()
		_ = w.CloseWithError(d.write(w))
	}()
	if err := n.fsm.state.load(pipe); err != nil {
		return nil, errors.Join(err, n.close())
	}
	if err := n.start(true); err != nil {
		return nil, errors.Join(err, n.close())
	}
	<-n.raft.LeaderCh()
	err = n.raft.Barrier(0).Error()
	if err == nil {
		err = n.raft.Snapshot().Error()
	}
	if err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (b *bench) joinDumped(ctx context.Context, leader *dumpNode, round int) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	dir := filepath.Join(b.dir, fmt.Sprintf("dump-joiner-%d", round))
	defer removeAll(dir)
	target := leader.raft.AppliedIndex()
	start := time.Now()
	n, err := newDumpNode(dir, fmt.Sprintf("joiner-%d", round))
	if err != nil {
		return 0, err
	}
	err = n.start(false)
	if err == nil {
		err = leader.raft.AddNonvoter(n.id, n.trans.LocalAddr(), 0, 0).Error()
	}
	if err == nil {
		err = n.applied(ctx, target)
	}
	ms := time.Since(start).Seconds() * 1e3
	if err == nil {
		err = leader.raft.RemoveServer(n.id, 0, 0).Error()
	}
	if value, gerr := n.fsm.state.get([]byte(keyName(stateValues - 1))); gerr != nil || len(value) != valueBytes {
		err = errors.Join(err, fmt.Errorf("restored node lacks a value: %w", gerr))
	}
	return ms, errors.Join(err, n.close())
}
