package consensus

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// MaxCommandBytes is the largest command that Propose accepts.
const MaxCommandBytes = 4 << 20

// maxBatchBytes bounds what one append may carry: on the leader by the bytes
// of proposals in flight, towards followers by cutting the request.
const maxBatchBytes = 16 << 20

// Config says where a node keeps its log, how peers reach it and how it finds
// them. The zero value of every field with a default means that default.
type Config struct {
	// Dir holds the log, the votes and received snapshots. Created when absent.
	// Required.
	Dir string
	// NodeID is the node's ULID. When empty, Open reads the one stored in Dir
	// or draws and stores a new one. It must not differ from a stored one.
	NodeID string

	// PeerAddr is the TCP address to listen on for peers, host:port. Port 0
	// picks a free one. Default "127.0.0.1:8751".
	PeerAddr string
	// PeerAdvertise is the host:port that other nodes dial. Default: the
	// address listened on, which then must not be a wildcard.
	PeerAdvertise string
	// PeerTLS names the files of this node's certificate for the peer port. It
	// may be left empty on a loopback address: without PeerInsecure such a node
	// then speaks only to itself, with a certificate made at the start.
	PeerTLS PeerFiles
	// PeerInsecure allows plain TCP between peers. Refused unless PeerAddr is a
	// loopback address.
	PeerInsecure bool

	// BootstrapExpect is the number of nodes that form a new site together.
	// 1: this node starts one alone when Dir holds no state and Join is empty.
	// More: every node names the others in Join, and the site is formed once
	// all of them have found each other without state. 0: never start a site.
	BootstrapExpect int
	// Join lists where the site may be found: host:port, where a name with
	// several addresses stands for all of them, or "srv:" and the name of a DNS
	// SRV record. A node with Join tries to join before anything else.
	Join []string

	// HeartbeatTimeout is the silence after which a follower calls an election.
	// Default 500 ms, at least 10 ms.
	HeartbeatTimeout time.Duration
	// LeaseTimeout is the silence of a quorum after which a leader steps down.
	// Default half of HeartbeatTimeout, at most HeartbeatTimeout.
	LeaseTimeout time.Duration
	// LeaderWait is how long Propose and ReadIndex wait for a leader before
	// they return ErrNoLeader. Default 3 s.
	LeaderWait time.Duration
	// PeerTimeout bounds dialling a peer and one request to it. Default 5 s.
	PeerTimeout time.Duration

	// SnapshotEntries is the number of entries after which the log is
	// compacted. Default 8192.
	SnapshotEntries uint64
	// TrailingEntries stay in the log after a compaction so that a follower
	// that is a little behind needs no files. Default 10240. Negative: none.
	TrailingEntries int
	// SnapshotInterval is the time between two looks at SnapshotEntries; raft
	// spreads it up to twofold. Default 30 s.
	SnapshotInterval time.Duration

	// StorageFullPercent is the filling of Dir's disk at which writes are
	// refused. Default 90, range 1..100.
	StorageFullPercent int
	// StallTimeout is how long one sync of the log may take on the leader
	// before the process gives up, so that another node can lead. Default 5 s.
	StallTimeout time.Duration

	// Logger receives what the group and its libraries have to say. Default
	// slog.Default(). Commands are never logged.
	Logger *slog.Logger
	// OnFatal is called when the node cannot go on: the disk returned an error
	// or stalled. It must end the process; the default logs and exits with 1.
	OnFatal func(error)

	// fs is the file system; nil means the operating system's.
	fs vfs.FS
	// resolver looks up the names in Join; nil means the system's.
	resolver *net.Resolver
	// faults loses messages between nodes; nil in every real node.
	faults *faults
	// commitTimeout is raft's CommitTimeout; zero, as in every real node,
	// leaves it.
	commitTimeout time.Duration
	// broken switches one safety measure off; zero in every real node.
	broken mutation
}

// EnsureDefaults fills every zero field that has a default.
func (c *Config) EnsureDefaults() {
	setDefault(&c.PeerAddr, "127.0.0.1:8751")
	setDefault(&c.HeartbeatTimeout, 500*time.Millisecond)
	setDefault(&c.LeaseTimeout, c.HeartbeatTimeout/2)
	setDefault(&c.LeaderWait, 3*time.Second)
	setDefault(&c.PeerTimeout, 5*time.Second)
	setDefault(&c.SnapshotEntries, 8192)
	setDefault(&c.TrailingEntries, 10240)
	setDefault(&c.SnapshotInterval, 30*time.Second)
	setDefault(&c.StorageFullPercent, 90)
	setDefault(&c.StallTimeout, 5*time.Second)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.fs == nil {
		c.fs = vfs.Default
	}
	if c.resolver == nil {
		c.resolver = net.DefaultResolver
	}
	if c.OnFatal == nil {
		logger := c.Logger
		c.OnFatal = func(err error) {
			logger.Error("consensus cannot go on; the process ends", "error", err)
			os.Exit(1)
		}
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports every problem of the configuration at once. It expects
// EnsureDefaults to have run.
func (c *Config) Validate() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf("consensus config: "+format, args...))
		}
	}
	check(c.Dir != "", "Dir is required")
	check(c.HeartbeatTimeout >= 10*time.Millisecond, "HeartbeatTimeout %v is below 10ms", c.HeartbeatTimeout)
	check(c.LeaseTimeout >= 5*time.Millisecond && c.LeaseTimeout <= c.HeartbeatTimeout,
		"LeaseTimeout %v is outside 5ms..%v", c.LeaseTimeout, c.HeartbeatTimeout)
	check(c.LeaderWait > 0, "LeaderWait %v is not positive", c.LeaderWait)
	check(c.PeerTimeout > 0, "PeerTimeout %v is not positive", c.PeerTimeout)
	check(c.SnapshotInterval >= 5*time.Millisecond, "SnapshotInterval %v is below 5ms", c.SnapshotInterval)
	check(c.StorageFullPercent >= 1 && c.StorageFullPercent <= 100,
		"StorageFullPercent %d is outside 1..100", c.StorageFullPercent)
	check(c.StallTimeout > 0, "StallTimeout %v is not positive", c.StallTimeout)
	check(c.BootstrapExpect >= 0 && c.BootstrapExpect <= 9, "BootstrapExpect %d is outside 0..9", c.BootstrapExpect)
	for _, addr := range append([]string{c.PeerAddr}, c.Join...) {
		_, _, err := net.SplitHostPort(addr)
		check(err == nil || strings.HasPrefix(addr, srvPrefix), "address %q is not host:port", addr)
	}
	check(!c.PeerInsecure || isLoopback(c.PeerAddr), "PeerInsecure needs a loopback PeerAddr, not %q", c.PeerAddr)
	check(c.PeerTLS.empty() || c.PeerTLS.complete(), "PeerTLS needs all of CA, Cert and Key")
	if c.PeerTLS.empty() && !c.PeerInsecure {
		check(isLoopback(c.PeerAddr) && len(c.Join) == 0 && c.BootstrapExpect <= 1,
			"PeerTLS is needed to speak to other nodes")
	}
	return errors.Join(problems...)
}

func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// trailing is TrailingEntries as raft wants it.
func (c *Config) trailing() uint64 {
	if c.TrailingEntries < 0 {
		return 0
	}
	return uint64(c.TrailingEntries)
}
