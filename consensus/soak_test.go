package consensus

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/anishathalye/porcupine"
)

// soak is a site of processes behind proxies, clients that use it all the time,
// and one fault after the other.
type soak struct {
	t       *testing.T
	rng     *rand.Rand
	all     *proxies
	nodes   []*process
	front   []*toxiproxy.Proxy
	start   time.Time
	faults  map[string]int
	epoch   atomic.Int64 // clients take new keys when it changes, which keeps histories short
	stopped atomic.Bool

	mu      sync.Mutex
	ops     []porcupine.Operation
	answers int
}

// TestSoak runs for some seconds in its short form. The long one:
//
//	CAIRN_SOAK_MINUTES=30 CAIRN_SOAK_SEED=1 go test ./consensus -run TestSoak -v -timeout 60m
func TestSoak(t *testing.T) {
	seed := envInt("CAIRN_SOAK_SEED", 1)
	limit := time.Duration(envInt("CAIRN_SOAK_MINUTES", 0)) * time.Minute
	rounds := math.MaxInt
	if limit == 0 {
		limit, rounds = time.Hour, 4
	}
	s := newSoak(t, seed)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() { s.use(client) })
	}
	stop := sync.OnceFunc(func() {
		s.stopped.Store(true)
		clients.Wait()
	})
	defer stop()
	var first, last usage
	for round := 0; round < rounds && ctx.Err() == nil; round++ {
		s.round()
		s.epoch.Add(1)
		last = s.settle()
		if round == 2 || first.goroutines == 0 {
			first = last
		}
		if total := s.total(); round%10 == 9 {
			t.Logf("%v: %d faults, %d operations answered", time.Since(s.start).Round(time.Second), total, s.answered())
		}
	}
	stop()
	sameStates(t, s.nodes)
	s.check(seed)
	s.report(seed, first, last)
}

func newSoak(t *testing.T, seed int) *soak {
	s := &soak{t: t, rng: rand.New(rand.NewPCG(uint64(seed), 11)), all: newProxies(t), start: time.Now(), faults: map[string]int{}}
	for range 3 {
		p := &process{t: t, dir: t.TempDir(), addr: freeAddr(t)}
		s.nodes = append(s.nodes, p)
		s.front = append(s.front, s.all.before(p.addr))
	}
	for i, p := range s.nodes {
		s.address(i)
		p.startForTest()
	}
	leading(t, s.nodes, nil)
	return s
}

// address tells process i where it is and where the others are.
func (s *soak) address(i int) {
	p := s.nodes[i]
	p.advertise, p.join = s.front[i].Listen, nil
	for j, f := range s.front {
		if j != i {
			p.join = append(p.join, f.Listen)
		}
	}
}

// round injects a few faults, one at a time or two at once, and heals.
func (s *soak) round() {
	for range 3 {
		s.reviveHung()
		victim := s.rng.IntN(len(s.nodes))
		switch s.rng.IntN(7) {
		case 0:
			s.count("kill -9")
			s.nodes[victim].kill()
			s.pause(0, 700)
			s.nodes[victim].start()
		case 1:
			s.count("stop and continue")
			s.nodes[victim].signal(syscall.SIGSTOP)
			s.pause(300, 1500)
			s.nodes[victim].signal(syscall.SIGCONT)
		case 2:
			s.count("transfer")
			_, _ = s.nodes[victim].call("transfer", "-", "-", 0, time.Second)
		case 3:
			s.wipe(victim)
		case 4:
			s.move(victim)
		default:
			fault := networkFaults[s.rng.IntN(len(networkFaults))]
			s.count(fault.name)
			fault.apply(s.t, s.front[victim])
			s.pause(300, 1200)
			heal(s.t, s.front[victim])
		}
		s.pause(0, 300)
	}
}

// reviveHung starts a node again that ended itself because its disk hung, as the supervisor of an operator would. On a busy
// machine a sync can take that long. A node that ends for another reason fails the test.
func (s *soak) reviveHung() {
	s.t.Helper()
	for _, p := range s.nodes {
		if !p.ended() {
			continue
		}
		if text := p.errors.String(); !strings.Contains(text, "hang") {
			s.t.Fatalf("%s ended by itself: %s", p.addr, text)
		}
		s.count("ended itself, disk hung")
		_ = p.in.Close()
		p.start()
	}
}

func (s *soak) count(name string) { s.faults[name]++ }

// pause lets the clients work for a while.
func (s *soak) pause(least, most int) {
	<-time.After(time.Duration(least+s.rng.IntN(most-least)) * time.Millisecond)
}

// wipe takes a node's folder away. It is done only while the others have a
// majority and everything, as an operator would. A leader that falls while it
// takes the node in leaves it with a term and no membership; the node says so
// in its log, and the operator wipes it again.
func (s *soak) wipe(victim int) {
	s.settle()
	s.count("wipe and rejoin")
	for !s.wipeOnce(victim) {
		s.count("wiped again")
	}
	s.settle()
}

// wipeOnce reports whether the node is a member again within some seconds.
func (s *soak) wipeOnce(victim int) bool {
	p := s.nodes[victim]
	p.kill()
	for _, name := range []string{"raft", "state"} {
		if err := os.RemoveAll(filepath.Join(p.dir, name)); err != nil {
			s.t.Fatal(err)
		}
	}
	s.address(victim) // where the others are now: the node has forgotten it
	p.start()
	for range 10 {
		if answer, err := p.call("ready", "-", "-", 0, time.Second); err == nil && answer == "true" {
			return true
		}
		s.pause(100, 900)
	}
	return false
}

// move gives a node another address.
func (s *soak) move(victim int) {
	s.count("address change")
	p := s.nodes[victim]
	p.kill()
	s.front[victim].Stop()
	p.addr = freeAddr(s.t)
	s.front[victim] = s.all.before(p.addr)
	s.address(victim)
	p.start()
}

// usage is the most that one process of the site used.
type usage struct{ goroutines, files int }

// settle waits until all nodes are members with everything, and looks at what
// they use.
func (s *soak) settle() usage {
	s.t.Helper()
	var most usage
	for i, p := range s.nodes {
		eventually(s.t, fmt.Sprintf("node %d after %v", i, s.faults), func() bool {
			answer, err := p.call("ready", "-", "-", 0, 2*time.Second)
			return err == nil && answer == "true"
		})
		answer, err := p.call("use", "-", "-", 0, readLimit)
		var u usage
		if err == nil {
			_, err = fmt.Sscan(answer, &u.goroutines, &u.files)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		most = usage{max(most.goroutines, u.goroutines), max(most.files, u.files)}
	}
	return most
}

func (s *soak) total() (n int) {
	for _, times := range s.faults {
		n += times
	}
	return n
}

func (s *soak) answered() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers
}

// use is one client. It writes and reads at nodes chosen at random; an
// increment whose answer is lost is tried again under its sequence number. A
// session read at any node must show the client's last write.
func (s *soak) use(client int) {
	rng := rand.New(rand.NewPCG(uint64(client), 13))
	type own struct {
		token uint64
		value int
	}
	seen := map[string]own{} // of this client, by key
	for seq := uint64(1); !s.stopped.Load(); seq++ {
		key := fmt.Sprintf("%d-%d", s.epoch.Load(), rng.IntN(3))
		call := time.Since(s.start).Nanoseconds()
		switch rng.IntN(3) {
		case 0:
			answer, ok := s.try(rng, "read", key, client, 0, 1)
			value, _ := strconv.Atoi(answer)
			s.record(client, kvInput{key: key}, kvOutput{value: value, known: ok}, call)
		case 1:
			answer, ok := s.try(rng, "add", key, client, seq, 8)
			text, token, _ := strings.Cut(answer, ":")
			value, _ := strconv.Atoi(text)
			s.record(client, kvInput{key: key, inc: true}, kvOutput{value: value, known: ok}, call)
			if ok {
				index, _ := strconv.ParseUint(token, 10, 64)
				seen[key] = own{index, value}
			}
		default:
			if last := seen[key]; last.token > 0 {
				answer, ok := s.try(rng, "session", key, client, last.token, 1)
				if value, _ := strconv.Atoi(answer); ok && value < last.value {
					s.t.Errorf("client %d: session read of %s gave %d after %d at index %d", client, key, value, last.value, last.token)
				}
			}
		}
	}
}

func (s *soak) try(rng *rand.Rand, op, key string, client int, seq uint64, times int) (string, bool) {
	for range times {
		answer, err := s.nodes[rng.IntN(len(s.nodes))].call(op, key, fmt.Sprint("c", client), seq, 600*time.Millisecond)
		if err == nil {
			return answer, true
		}
		if s.stopped.Load() {
			break
		}
	}
	return "", false
}

func (s *soak) record(client int, in kvInput, out kvOutput, call int64) {
	end := time.Since(s.start).Nanoseconds()
	if !out.known {
		if !in.inc {
			return // a read without an answer says nothing
		}
		end = math.MaxInt64 // it may take effect at any time
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if out.known {
		s.answers++
	}
	s.ops = append(s.ops, porcupine.Operation{ClientId: client, Input: in, Output: out, Call: call, Return: end})
}

// check looks for an order of all operations that explains every answer.
func (s *soak) check(seed int) {
	result, _ := porcupine.CheckOperationsVerbose(counterModel(), s.ops, 5*time.Minute)
	if result != porcupine.Ok {
		s.t.Errorf("seed %d: history of %d operations: %s", seed, len(s.ops), result)
	}
	if s.answers < s.total() {
		s.t.Errorf("seed %d: only %d operations were answered", seed, s.answers)
	}
}

func (s *soak) report(seed int, first, last usage) {
	var kinds []string
	for name, n := range s.faults {
		kinds = append(kinds, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(kinds)
	s.t.Logf("seed %d: %v, %d faults (%s), %d operations, %d answered, goroutines %d then %d, open files %d then %d",
		seed, time.Since(s.start).Round(time.Second), s.total(), strings.Join(kinds, ", "), len(s.ops), s.answers,
		first.goroutines, last.goroutines, first.files, last.files)
	if last.goroutines > first.goroutines+40 || last.files > first.files+40 {
		s.t.Errorf("seed %d: more goroutines or open files at the end: %+v, then %+v", seed, first, last)
	}
}
