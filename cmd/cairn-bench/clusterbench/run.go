package clusterbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Options say how much is measured and with what.
type Options struct {
	Quick bool
	// Program is this executable; it is started again as node and client.
	Program string
	// Peers is the folder that peers/cluster.sh has filled; empty stands for $CAIRN_PEERS, else cairn-peers under the
	// temporary folder.
	Peers string
	// Rows limits the run to the parts that give rows whose name contains this text; empty runs all.
	Rows string
	// Progress is told what is measured next.
	Progress func(string)
}

// sizes of a run.
type sizes struct {
	rounds    int
	seconds   float64 // of one load
	trials    int     // of failover and of planned hand-over
	stops     int     // of the leader, for stale reads
	idle      float64 // seconds of idling
	batches   int     // appends to a log
	snapshots int     // rounds of snapshot and catch-up
}

var (
	fullSizes  = sizes{rounds: 5, seconds: 6, trials: 9, stops: 10, idle: 15, batches: 200, snapshots: 5}
	quickSizes = sizes{rounds: 3, seconds: 2, trials: 3, stops: 2, idle: 5, batches: 60, snapshots: 3}
)

// valueBytes is the size of a value everywhere.
const valueBytes = 2 << 10

// keyCount is the number of keys that loads write and read.
const keyCount = 1000

// Run measures all rows. What cannot be measured is a row with a reason. The error is that of the surroundings or of ctx.
func Run(ctx context.Context, o Options) ([]Row, []string, error) {
	b := &bench{Options: o, sizes: fullSizes, out: results{}, reasons: map[string]string{}}
	if o.Quick {
		b.sizes = quickSizes
	}
	if b.Progress == nil {
		b.Progress = func(string) {}
	}
	dir, err := os.MkdirTemp("", "cairn-cluster-")
	if err != nil {
		return nil, nil, err
	}
	defer removeAll(dir)
	if err := onDisk(dir); err != nil {
		return nil, nil, err
	}
	b.dir = dir
	b.findPeer()
	b.sites(ctx)
	b.step(ctx, b.logs, "logstore_", "truncation_")
	b.step(ctx, b.snapshots, "snapshot_", "catchup_")
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return b.out.ordered(b.reason), b.notes(), nil
}

// bench is one run.
type bench struct {
	Options
	sizes   sizes
	dir     string
	peer    string // program of the peers, empty when there is none
	out     results
	reasons map[string]string // beginning of a row's name to why it was not run
	// repeated are the errors of loads that were run again.
	repeated []string
}

// step runs part of the measurement when a row of it is wanted; its error is the reason why rows are missing.
func (b *bench) step(ctx context.Context, fn func(context.Context) error, prefixes ...string) {
	if !b.wanted(prefixes...) || ctx.Err() != nil {
		return
	}
	b.Progress(strings.Join(prefixes, " "))
	if err := fn(ctx); err != nil {
		for _, p := range prefixes {
			b.reasons[p] = err.Error()
		}
	}
}

func (b *bench) wanted(prefixes ...string) bool {
	for _, s := range Rows() {
		for _, p := range prefixes {
			if strings.HasPrefix(s.Name, p) && strings.Contains(s.Name, b.Rows) {
				return true
			}
		}
	}
	return false
}

func (b *bench) reason(name string) string {
	for p, why := range b.reasons {
		if strings.HasPrefix(name, p) {
			return why
		}
	}
	if b.peer == "" {
		return noPeer
	}
	return "not asked for"
}

const noPeer = "no peer: run cmd/cairn-bench/peers/cluster.sh"

func (b *bench) findPeer() {
	dir := b.Peers
	if dir == "" {
		dir = os.Getenv("CAIRN_PEERS")
	}
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "cairn-peers")
	}
	program := filepath.Join(dir, "clusterpeer")
	if _, err := os.Stat(program); err == nil {
		b.peer = program
	}
}

// onDisk refuses a folder in memory, where a sync costs nothing.
func onDisk(dir string) error {
	const tmpfs = 0x01021994
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("look at %s: %w", dir, err)
	}
	if fs.Type == tmpfs {
		return errors.New("the temporary folder is in memory: set TMPDIR to a folder on disk")
	}
	return nil
}

func (b *bench) notes() []string {
	notes := []string{
		"Cairn: consensus.Group in three processes, mutual TLS off as at etcd, a key-value state on Pebble; no REST surface on either side",
		"etcd 3.7 with its defaults over gRPC (clientv3), raft-boltdb 2.3 with its defaults; etcd also keeps the older versions of a key, Cairn's key-value state does not",
		"a client process holds one connection to one node and runs closed loops on it; loads and reads go to the leader unless the row says follower",
		"failover and hand-over: a write every 20 ms (5 ms for the hand-over) is tried at a node that stays, each for up to 5 s",
		"all processes of a run share the machine and its disk; low and high are the range over the rounds",
	}
	for _, r := range b.repeated {
		notes = append(notes, "a load was repeated: "+r)
	}
	return notes
}

// removeAll drops a folder of this run; what stays is in the temporary folder.
func removeAll(dir string) { _ = os.RemoveAll(dir) }
