package node

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"cairn/consensus"
	"cairn/index/embed"
	"cairn/node/api"
	"cairn/node/gate"
	"cairn/node/llm"
	"cairn/node/screen"
	"cairn/node/store"
)

// Config says where a node lives and whom it joins. Dir is required; the other zero values are useful.
type Config struct {
	// Dir is the data folder; it is created when missing.
	Dir string
	// PeerAddr is where other nodes of the site reach this one. Default 127.0.0.1:8751; port 0 takes a free one.
	PeerAddr string
	// BootstrapExpect is how many nodes form a new site when Dir is empty and Join is empty. Default 1.
	BootstrapExpect int
	// Join lists peer addresses of the site to join.
	Join []string
	// PeerAdvertise is the host:port that other nodes dial. Default: the address listened on.
	PeerAdvertise string
	// PeerTLS names the certificate files of the peer port; they are read again when they change.
	PeerTLS consensus.PeerFiles
	// PeerInsecure allows peers without TLS, on loopback addresses only. Default true for one node alone.
	PeerInsecure bool
	// Workers is how many jobs run at once. Default 2.
	Workers int
	// RetryAfter is the wait before a job that failed is tried again; doubled for each try. Default 1 s.
	RetryAfter time.Duration
	// TickEvery is the time between ticks of the leader. Default one minute.
	TickEvery time.Duration
	// AlertEvery is the time between two looks of the leader for alerts to raise and clear on the feed. Default 5 minutes.
	AlertEvery time.Duration
	// AlertStands is how long an alert stands at least, so that a value about its limit does not fill the feed. Default one hour.
	AlertStands time.Duration
	// EmbedDeadline bounds an embedding on a write or recall. Default 2 s.
	EmbedDeadline time.Duration
	// Encoder turns text into vectors; nil makes one of this node's own. Nodes of one process may share one.
	Encoder Encoder
	// Screener looks at text before other principals see it. Default: the built-in rules.
	Screener screen.Screener
	// LLM names the language models that jobs and recalls may ask; nil for none: everything then goes by rule.
	LLM *llm.Options
	// Logger receives the node's log. Default slog.Default.
	Logger *slog.Logger
}

// Encoder turns text into vectors; *embed.Encoder and *embed.Remote are such.
type Encoder interface {
	Embed(ctx context.Context, text string) (embed.Vector, error)
	// Embedders lists the ids of the vectors that it makes.
	Embedders() []string
}

func (c *Config) ensureDefaults() {
	if c.PeerAddr == "" {
		c.PeerAddr = "127.0.0.1:8751"
	}
	if c.BootstrapExpect == 0 && len(c.Join) == 0 {
		c.BootstrapExpect = 1
	}
	if c.RetryAfter == 0 {
		c.RetryAfter = time.Second
	}
	if c.Workers == 0 {
		c.Workers = 2
	}
	if c.TickEvery == 0 {
		c.TickEvery = time.Minute
	}
	if c.AlertEvery == 0 {
		c.AlertEvery = 5 * time.Minute
	}
	if c.AlertStands == 0 {
		c.AlertStands = time.Hour
	}
	if c.EmbedDeadline == 0 {
		c.EmbedDeadline = 2 * time.Second
	}
	if c.Screener == nil {
		c.Screener = screen.Rules{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
}

// Node is a running server. It implements api.Service; its methods are safe for concurrent use.
type Node struct {
	cfg       Config
	log       *slog.Logger
	store     *store.Store
	group     *consensus.Group
	proposer  proposer
	encoder   Encoder
	embedded  *embed.Encoder // reads what the state holds of the embedded encoders, when encoder is another
	predictor *gate.Predictor
	index     *follower
	// indexFiles belongs to the loop that keeps them, and to Close after it.
	indexFiles *indexFiles
	receipts   *batcher
	streams    streams
	registry   *prometheus.Registry
	metrics    *metrics
	models     models
	adminKey   string

	restoring sync.Mutex // one restore at a time through this node

	keyMu   sync.Mutex // guards nodeKey
	nodeKey ed25519.PrivateKey

	stop context.CancelFunc
	wg   sync.WaitGroup
	once sync.Once
}

var _ api.Service = (*Node)(nil)

// Open starts a node. It returns when the node has joined or formed its site, knows a leader, and has indexed its state.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	cfg.ensureDefaults()
	n := &Node{cfg: cfg, log: cfg.Logger, predictor: &gate.Predictor{}, encoder: cfg.Encoder}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open node: %w", err), n.Close())
	}
	return n, nil
}

func (n *Node) open(ctx context.Context) error {
	if err := os.MkdirAll(n.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := n.removeSpooled(); err != nil {
		return err
	}
	var err error
	if n.embedded, err = embed.New(embed.Options{}); err != nil {
		return err
	}
	if n.encoder == nil {
		n.encoder = n.embedded
	}
	if n.store, err = store.Open(filepath.Join(n.cfg.Dir, "state"), n.log); err != nil {
		return err
	}
	n.group, err = consensus.Open(ctx, consensus.Config{
		Dir: filepath.Join(n.cfg.Dir, "raft"), PeerAddr: n.cfg.PeerAddr, PeerAdvertise: n.cfg.PeerAdvertise,
		PeerTLS: n.cfg.PeerTLS, PeerInsecure: n.cfg.PeerInsecure,
		BootstrapExpect: n.cfg.BootstrapExpect, Join: n.cfg.Join, Logger: n.log,
	}, machine{n.store})
	if err != nil {
		return err
	}
	n.proposer = n.group
	n.streams.client = n.group.NodeID()
	if err := n.openModels(); err != nil {
		return err
	}
	if err := n.makeRegistry(); err != nil {
		return err
	}
	if err := n.bootstrap(ctx); err != nil {
		return err
	}
	return n.start(ctx)
}

func (n *Node) start(ctx context.Context) error {
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	folder := filepath.Join(n.cfg.Dir, "index")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	n.index = newFollower(n.store, n.predictor, folder, n.log)
	files := &indexFiles{dir: folder, epoch: n.epochName, least: minFileDocs}
	if err := n.index.rebuild(files); err != nil {
		return err
	}
	n.indexFiles = files // not before: what a failed start holds is not worth keeping
	n.receipts = newBatcher(n)
	n.run(func() { n.index.follow(loops) })
	n.run(func() { files.keep(loops, n.index) })
	n.run(func() { n.receipts.loop(loops) })
	for _, l := range n.lanes() {
		n.run(func() { n.work(loops, l) })
	}
	n.run(func() { n.books(loops) })
	n.run(func() { n.forgetErased(loops) })
	n.run(func() { n.tick(loops) })
	n.run(func() { n.watch(loops) })
	at, _ := n.store.Applied()
	return n.index.wait(ctx, at)
}

func (n *Node) run(loop func()) {
	n.wg.Add(1)
	go func() {
		defer n.wg.Done()
		loop()
	}()
}

// Close stops the loops, commits buffered receipts and closes the databases. It is idempotent and waits.
func (n *Node) Close() error {
	var err error
	n.once.Do(func() {
		if n.stop != nil {
			n.stop()
			n.wg.Wait()
			n.saveIndex()
			if n.index != nil {
				n.index.close()
			}
		}
		n.models.client.Close()
		if n.group != nil {
			err = errors.Join(err, n.group.Close())
		}
		if n.store != nil {
			err = errors.Join(err, n.store.Close())
		}
	})
	return err
}

// newKey draws an API key: 32 random bytes.
func newKey() string {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail on supported systems
	}
	return "ck_" + base64.RawURLEncoding.EncodeToString(b[:])
}

// AdminKeyFile is where the first node keeps the admin's key.
func (n *Node) AdminKeyFile() string { return filepath.Join(n.cfg.Dir, "admin.key") }

// AdminKey is the key in AdminKeyFile, empty on a node that joined.
func (n *Node) AdminKey() string { return n.adminKey }

// NodeID is this node's ULID.
func (n *Node) NodeID() string { return n.group.NodeID() }

// PeerAddr is the address that peers reach.
func (n *Node) PeerAddr() string { return n.group.PeerAddr() }

// Registry holds the node's metrics.
func (n *Node) Registry() *prometheus.Registry { return n.registry }

func (n *Node) makeRegistry() error {
	n.registry = prometheus.NewRegistry()
	n.metrics = newMetrics(n)
	all := append(n.group.Collectors(), n.metrics,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, c := range all {
		if err := n.registry.Register(c); err != nil {
			return fmt.Errorf("register metrics: %w", err)
		}
	}
	return nil
}
