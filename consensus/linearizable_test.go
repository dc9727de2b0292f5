package consensus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// kvInput is one operation of a history: an increment or a read of one key.
type kvInput struct {
	key string
	inc bool
}

// kvOutput is the answer; known is false when it was lost.
type kvOutput struct {
	value int
	known bool
}

// counterModel says what linearizable counters answer, per key.
func counterModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byKey := map[string][]porcupine.Operation{}
			for _, op := range history {
				key := op.Input.(kvInput).key
				byKey[key] = append(byKey[key], op)
			}
			var parts [][]porcupine.Operation
			for _, part := range byKey {
				parts = append(parts, part)
			}
			return parts
		},
		Init: func() any { return 0 },
		Step: func(state, input, output any) (bool, any) {
			now, in, out := state.(int), input.(kvInput), output.(kvOutput)
			if in.inc {
				now++
			}
			return !out.known || out.value == now, now
		},
	}
}

// history collects operations of all clients.
type history struct {
	start time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
}

func (h *history) add(client int, in kvInput, out kvOutput, call, end int64) {
	if !out.known {
		if !in.inc {
			return // a read without an answer says nothing
		}
		end = math.MaxInt64 // it may take effect at any time
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: end})
}

// run does operations on nodes chosen at random until ctx ends. An increment
// whose answer is lost is tried again under the same sequence number.
func (h *history) run(ctx context.Context, c *cluster, client int) {
	rng := rand.New(rand.NewPCG(uint64(client), 5))
	for seq := uint64(1); ctx.Err() == nil; seq++ {
		in := kvInput{key: strconv.Itoa(rng.IntN(3)), inc: rng.IntN(2) == 0}
		call := time.Since(h.start).Nanoseconds()
		out := kvOutput{}
		for try := 0; try < 5 && !out.known && ctx.Err() == nil; try++ {
			n := c.nodes[rng.IntN(len(c.nodes))]
			opCtx, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
			out = operate(opCtx, n, in, client, seq)
			cancel()
		}
		h.add(client, in, out, call, time.Since(h.start).Nanoseconds())
	}
}

func operate(ctx context.Context, n *testNode, in kvInput, client int, seq uint64) kvOutput {
	if in.inc {
		cmd := kvCommand{Op: "inc", Key: in.key, Client: fmt.Sprint(client), Seq: seq}
		res, err := n.Propose(ctx, cmd.encode())
		if err != nil {
			return kvOutput{}
		}
		value, _ := strconv.Atoi(string(res.Value))
		return kvOutput{value: value, known: true}
	}
	if n.Barrier(ctx) != nil {
		return kvOutput{}
	}
	value, _ := strconv.Atoi(n.kv.value(in.key))
	return kvOutput{value: value, known: true}
}

// disturb cuts, isolates and slows until ctx ends, then heals.
func (c *cluster) disturb(ctx context.Context, rng *rand.Rand) {
	defer c.net.heal()
	for ctx.Err() == nil {
		a, b := rng.IntN(len(c.addrs)), rng.IntN(len(c.addrs))
		switch rng.IntN(5) {
		case 0:
			c.net.isolate(c.addrs[a])
		case 1:
			c.net.cut(c.addrs[a], c.addrs[b])
		case 2:
			c.net.degrade(0.05, 0.1, 5*time.Millisecond)
		case 3:
			transfer, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			_ = c.nodes[a].TransferLeadership(transfer, "")
			cancel()
		default:
			c.net.heal()
		}
		select {
		case <-time.After(time.Duration(50+rng.IntN(250)) * time.Millisecond):
		case <-ctx.Done():
		}
		if rng.IntN(2) == 0 {
			c.net.heal()
		}
	}
}

// TestLinearizableUnderFaults checks a history of three nodes and a bad network.
// CAIRN_SOAK_SECONDS and CAIRN_SOAK_NODES make it longer and larger.
func TestLinearizableUnderFaults(t *testing.T) {
	seconds, nodes := envInt("CAIRN_SOAK_SECONDS", 3), envInt("CAIRN_SOAK_NODES", 3)
	seed := uint64(envInt("CAIRN_SOAK_SEED", 1))
	c := newFaultyCluster(t, nodes, func(_ int, cfg *Config) {
		cfg.LeaderWait = 300 * time.Millisecond
		cfg.PeerTimeout = 500 * time.Millisecond
		cfg.SnapshotEntries, cfg.TrailingEntries, cfg.SnapshotInterval = 100, 50, 50*time.Millisecond
	})
	c.leader()
	h := &history{start: time.Now()}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	var clients sync.WaitGroup
	for client := range 6 {
		clients.Go(func() { h.run(ctx, c, client) })
	}
	c.disturb(ctx, rand.New(rand.NewPCG(seed, 0)))
	clients.Wait()
	c.equalStates()
	known := 0
	for _, op := range h.ops {
		if op.Output.(kvOutput).known {
			known++
		}
	}
	t.Logf("seed %d: %d operations, %d answered", seed, len(h.ops), known)
	if known < 20*seconds {
		t.Errorf("only %d of %d operations were answered", known, len(h.ops))
	}
	result, _ := porcupine.CheckOperationsVerbose(counterModel(), h.ops, time.Minute)
	if result != porcupine.Ok {
		t.Errorf("seed %d: history of %d operations: %s", seed, len(h.ops), result)
	}
}

func envInt(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}
