package consensus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// proxies stand before the peer ports of processes, so that a test can harm the
// traffic of real connections.
type proxies struct {
	t      *testing.T
	server *toxiproxy.ApiServer
	made   int
}

func newProxies(t *testing.T) *proxies {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	p := &proxies{t: t, server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())}
	t.Cleanup(func() {
		if err := p.server.Collection.Clear(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// before starts a proxy for upstream and returns it; it listens on Listen.
func (p *proxies) before(upstream string) *toxiproxy.Proxy {
	p.t.Helper()
	p.made++
	proxy := toxiproxy.NewProxy(p.server, fmt.Sprintf("p%d", p.made), "127.0.0.1:0", upstream)
	if err := p.server.Collection.Add(proxy, true); err != nil {
		p.t.Fatal(err)
	}
	return proxy
}

// harm adds one toxic to what flows through the proxy in one direction.
func harm(t *testing.T, proxy *toxiproxy.Proxy, kind, stream string, attributes map[string]any) {
	t.Helper()
	spec, err := json.Marshal(map[string]any{
		"name": kind + stream, "type": kind, "stream": stream, "toxicity": 1, "attributes": attributes,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proxy.Toxics.AddToxicJson(bytes.NewReader(spec)); err != nil {
		t.Fatalf("toxic %s %s: %v", kind, stream, err)
	}
}

// heal removes all toxics and lets connections in.
func heal(t *testing.T, proxy *toxiproxy.Proxy) {
	t.Helper()
	proxy.Toxics.ResetToxics(t.Context())
	if err := proxy.Start(); err != nil && err != toxiproxy.ErrProxyAlreadyStarted {
		t.Fatal(err)
	}
}

// startProxied starts a site of n processes that reach each other through
// proxies only.
func startProxied(t *testing.T, n int) ([]*process, []*toxiproxy.Proxy) {
	t.Helper()
	all := newProxies(t)
	nodes := make([]*process, n)
	front := make([]*toxiproxy.Proxy, n)
	for i := range nodes {
		nodes[i] = &process{t: t, dir: t.TempDir(), addr: freeAddr(t)}
		front[i] = all.before(nodes[i].addr)
		nodes[i].advertise = front[i].Listen
	}
	for i, p := range nodes {
		for j := range nodes {
			if j != i {
				p.join = append(p.join, front[j].Listen)
			}
		}
		p.startForTest()
	}
	return nodes, front
}

// networkFault is one kind of harm to the traffic towards a node.
type networkFault struct {
	name  string
	apply func(t *testing.T, p *toxiproxy.Proxy)
}

var networkFaults = []networkFault{
	{"refuse connections", func(_ *testing.T, p *toxiproxy.Proxy) { p.Stop() }},
	{"swallow what is sent", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "timeout", "upstream", map[string]any{"timeout": 0})
	}},
	{"swallow answers", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "timeout", "downstream", map[string]any{"timeout": 0})
	}},
	{"late and uneven", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "latency", "upstream", map[string]any{"latency": 60, "jitter": 50})
	}},
	{"few bytes a packet", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "slicer", "downstream", map[string]any{"average_size": 40, "size_variation": 30, "delay": 300})
	}},
	{"20 KB a second", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "bandwidth", "upstream", map[string]any{"rate": 20})
	}},
	{"cut after 3 KB", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "limit_data", "upstream", map[string]any{"bytes": 3000})
	}},
	{"reset", func(t *testing.T, p *toxiproxy.Proxy) {
		harm(t, p, "reset_peer", "upstream", map[string]any{"timeout": 20})
	}},
}

// TestHarmedConnections harms the connections to the leader, and then to a
// follower, in every way; increments go on and none is lost or counted twice.
func TestHarmedConnections(t *testing.T) {
	nodes, front := startProxied(t, 3)
	rng := rand.New(rand.NewPCG(uint64(envInt("CAIRN_SOAK_SEED", 1)), 9))
	seq := uint64(0)
	add := func(n int) {
		for range n {
			seq++
			if got := insistFor(t, nodes, rng, seq, 500*time.Millisecond); got != fmt.Sprint(seq) {
				t.Fatalf("increment %d gave %s", seq, got)
			}
		}
	}
	add(3)
	for round, fault := range networkFaults {
		leader := leading(t, nodes, nil)
		victim := 0
		for i, p := range nodes {
			if (p == leader) == (round%2 == 0) {
				victim = i
			}
		}
		start := time.Now()
		fault.apply(t, front[victim])
		add(2)
		heal(t, front[victim])
		add(1)
		t.Logf("%s, leader %v: %v", fault.name, round%2 == 0, time.Since(start))
	}
	sameCount(t, nodes, "n", fmt.Sprint(seq))
}

// sameCount waits until every node reads want linearly, and all states are the
// same.
func sameCount(t *testing.T, nodes []*process, key, want string) {
	t.Helper()
	for i, p := range nodes {
		eventually(t, fmt.Sprintf("node %d to count %s", i, want), func() bool {
			value, err := p.call("read", key, "-", 0, readLimit)
			if err == nil && value != want {
				t.Fatalf("node %d counts %s, %s were acknowledged", i, value, want)
			}
			return err == nil
		})
	}
	sameStates(t, nodes)
}

// sameStates waits until all processes are at one index and compares them.
func sameStates(t *testing.T, nodes []*process) {
	t.Helper()
	eventually(t, "all nodes at one index", func() bool {
		at := map[string]bool{}
		hashes := map[string]bool{}
		for _, p := range nodes {
			answer, err := p.call("position", "-", "-", 0, readLimit)
			var index, hash string
			if err != nil {
				return false
			}
			if _, err := fmt.Sscan(answer, &index, &hash); err != nil {
				t.Fatal(err)
			}
			at[index], hashes[hash] = true, true
		}
		if len(at) == 1 && len(hashes) != 1 {
			t.Fatal("different states at one index")
		}
		return len(at) == 1
	})
}
