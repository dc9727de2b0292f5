package clusterbench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// dumpFSM is the usual state machine of hashicorp/raft on the same key-value state: a snapshot writes every key and value
// to raft's file store, a restore reads them all back into a new database.
type dumpFSM struct {
	dir   string
	state *kv
}

func (f *dumpFSM) Apply(l *raft.Log) any {
	_, err := f.state.Apply(l.Index, l.Term, []int64{0}, [][]byte{l.Data})
	return err
}

func (f *dumpFSM) Snapshot() (raft.FSMSnapshot, error) { return dump{f.state.db.NewSnapshot()}, nil }

// Restore replaces the state by a dump and syncs it.
func (f *dumpFSM) Restore(in io.ReadCloser) (err error) {
	defer func() { err = errors.Join(err, in.Close()) }()
	next := &kv{dir: f.dir, gen: f.state.gen + 1}
	if err := next.open(); err != nil {
		return err
	}
	if err := next.load(bufio.NewReaderSize(in, 1<<20)); err != nil {
		return errors.Join(err, next.close())
	}
	old := f.state
	f.state = next
	return errors.Join(next.MakeDurable(), old.close(), os.RemoveAll(old.genDir(old.gen)))
}

// load reads a dump in batches of a few megabytes.
func (s *kv) load(r io.Reader) error {
	batch := s.db.NewBatch()
	defer func() { _ = batch.Close() }()
	for {
		key, err := readPart(r)
		if errors.Is(err, io.EOF) {
			return batch.Commit(pebble.NoSync)
		}
		if err != nil {
			return err
		}
		value, err := readPart(r)
		if err != nil {
			return err
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
		if batch.Len() > 4<<20 {
			if err := batch.Commit(pebble.NoSync); err != nil {
				return err
			}
			batch.Reset()
		}
	}
}

func readPart(r io.Reader) ([]byte, error) {
	var n [4]byte
	if _, err := io.ReadFull(r, n[:]); err != nil {
		return nil, err
	}
	out := make([]byte, binary.BigEndian.Uint32(n[:]))
	_, err := io.ReadFull(r, out)
	return out, err
}

// dump is a snapshot that is written out.
type dump struct{ state *pebble.Snapshot }

// Persist implements raft.FSMSnapshot. The sink syncs on Close.
func (d dump) Persist(sink raft.SnapshotSink) error {
	if err := d.write(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}

func (d dump) write(out io.Writer) (err error) {
	it, err := d.state.NewIter(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	w := bufio.NewWriterSize(out, 1<<20)
	var n [4]byte
	for it.First(); it.Valid(); it.Next() {
		for _, part := range [][]byte{it.Key(), it.Value()} {
			binary.BigEndian.PutUint32(n[:], uint32(len(part)))
			if _, err := w.Write(n[:]); err != nil {
				return err
			}
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
	}
	return errors.Join(it.Error(), w.Flush())
}

// Release implements raft.FSMSnapshot.
func (d dump) Release() { _ = d.state.Close() }

// dumpNode is a node of hashicorp/raft with a dumpFSM. Its log is in memory, which only helps it.
type dumpNode struct {
	id    raft.ServerID
	fsm   *dumpFSM
	trans *raft.NetworkTransport
	snaps *raft.FileSnapshotStore
	store *raft.InmemStore
	raft  *raft.Raft
}

func newDumpNode(dir, id string) (*dumpNode, error) {
	state, err := openKV(filepath.Join(dir, "state"))
	if err != nil {
		return nil, err
	}
	n := &dumpNode{id: raft.ServerID(id), fsm: &dumpFSM{dir: filepath.Join(dir, "state"), state: state}, store: raft.NewInmemStore()}
	quietLog := hclog.NewNullLogger()
	if n.snaps, err = raft.NewFileSnapshotStoreWithLogger(dir, 1, quietLog); err != nil {
		return nil, errors.Join(err, state.close())
	}
	if n.trans, err = raft.NewTCPTransportWithLogger("127.0.0.1:0", nil, 3, 10*time.Second, quietLog); err != nil {
		return nil, errors.Join(err, state.close())
	}
	return n, nil
}

func (n *dumpNode) start(alone bool) (err error) {
	c := raft.DefaultConfig()
	c.LocalID, c.TrailingLogs, c.Logger = n.id, 0, hclog.NewNullLogger()
	if alone {
		members := raft.Configuration{Servers: []raft.Server{{ID: n.id, Address: n.trans.LocalAddr()}}}
		if err := raft.BootstrapCluster(c, n.store, n.store, n.snaps, n.trans, members); err != nil {
			return err
		}
	}
	n.raft, err = raft.NewRaft(c, n.fsm, n.store, n.store, n.snaps, n.trans)
	return err
}

func (n *dumpNode) close() error {
	var err error
	if n.raft != nil {
		err = n.raft.Shutdown().Error()
	}
	return errors.Join(err, n.trans.Close(), n.fsm.state.close())
}

// applied waits until the node has applied index.
func (n *dumpNode) applied(ctx context.Context, index uint64) error {
	for n.raft.AppliedIndex() < index {
		if err := pause(ctx, time.Millisecond); err != nil {
			return fmt.Errorf("raft with a dump: %w", err)
		}
	}
	return nil
}
