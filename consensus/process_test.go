package consensus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// process is a node in a process of its own, which answers lines on its
// standard input: "call inc|read key client seq milliseconds".
type process struct {
	t    *testing.T
	dir  string
	addr string
	join []string
	// advertise is where the others reach it, when that is not addr.
	advertise string
	// env and prefix are added to the environment and before the command.
	env, prefix []string

	cmd    *exec.Cmd
	in     io.WriteCloser
	errors *tail // what it wrote to stderr last

	mu      sync.Mutex
	last    int
	pending map[int]chan string
	exited  chan struct{}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(b), nil
}

func (t *tail) String() string {
	if t == nil {
		return "see the log"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// TestProcessNode is the child; it does nothing when run as a test.
func TestProcessNode(t *testing.T) {
	addrs := os.Getenv("CAIRN_TEST_NODE")
	if addrs == "" {
		return
	}
	join := strings.Split(addrs, ",")
	n, err := openNode(t, vfs.Default, func(c *Config) {
		c.PeerAddr, c.Join, c.BootstrapExpect = join[0], join, len(join)
		if len(join) == 1 {
			c.Join = nil
		}
		c.PeerAdvertise = os.Getenv("CAIRN_TEST_ADVERTISE")
		if pki := os.Getenv("CAIRN_TEST_PKI"); pki != "" {
			c.PeerInsecure = false
			c.PeerTLS = PeerFiles{CA: filepath.Join(pki, CAFile), Cert: filepath.Join(pki, "node.crt"), Key: filepath.Join(pki, "node.key")}
		}
		if os.Getenv("CAIRN_TEST_LOG") == "" { // the parent keeps the end of it
			c.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
		}
		c.OnFatal, c.LeaderWait = nil, 5*time.Second
		c.SnapshotEntries, c.TrailingEntries, c.SnapshotInterval = 200, 50, 100*time.Millisecond
	})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	var calls sync.WaitGroup
	defer calls.Wait()
	var out sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		line := lines.Text()
		calls.Go(func() {
			call, rest, _ := strings.Cut(line, " ")
			answer := n.serveLine(rest)
			out.Lock()
			defer out.Unlock()
			fmt.Printf("answer %s %s\n", call, answer)
		})
	}
}

func (n *testNode) serveLine(line string) string {
	var op, key, client string
	var seq uint64
	var ms int
	if _, err := fmt.Sscan(line, &op, &key, &client, &seq, &ms); err != nil {
		return "error " + err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(ms)*time.Millisecond)
	defer cancel()
	switch op {
	case "inc":
		res, err := n.Propose(ctx, kvCommand{Op: "inc", Key: key, Client: client, Seq: seq}.encode())
		if err != nil {
			return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return "ok " + string(res.Value)
	case "add": // inc with the session token
		res, err := n.Propose(ctx, kvCommand{Op: "inc", Key: key, Client: client, Seq: seq}.encode())
		if err != nil {
			return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return fmt.Sprintf("ok %s:%d", res.Value, res.Index)
	case "session": // seq is the token
		if err := n.WaitApplied(ctx, seq); err != nil {
			return "error " + err.Error()
		}
		return "ok " + n.kv.value(key)
	case "set": // a value of seq bytes under a key of its own; client "freeing" for a command that frees space
		propose := n.Propose
		if client == "freeing" {
			propose = n.ProposeFreeing
		}
		if _, err := propose(ctx, kvCommand{Op: "set", Key: key, Value: strings.Repeat("x", int(seq))}.encode()); err != nil {
			return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return "ok set"
	case "size":
		return fmt.Sprintf("ok %d", len(n.kv.value(key)))
	case "transfer":
		if err := n.TransferLeadership(ctx, ""); err != nil {
			return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return "ok moved"
	case "use": // goroutines and open files
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return "error " + err.Error()
		}
		return fmt.Sprintf("ok %d %d", runtime.NumGoroutine(), len(files))
	case "ready": // a voter at its present address that has what the site had committed
		ready := n.Barrier(ctx) == nil && votersOf(n) == 3
		for _, m := range n.Status().Nodes {
			ready = ready && (m.ID != n.NodeID() || m.Role != RoleNonvoter && m.Address == n.PeerAddr())
		}
		return fmt.Sprintf("ok %v", ready && len(n.Status().Nodes) == 3)
	case "position":
		index, hash := n.kv.position()
		return fmt.Sprintf("ok %d %x", index, hash)
	case "read":
		if err := n.Barrier(ctx); err != nil {
			return "error " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		return "ok " + n.kv.value(key)
	case "leader":
		return fmt.Sprintf("ok %v", n.IsLeader())
	case "hash":
		return fmt.Sprintf("ok %x", n.kv.StateHash())
	default:
		return "error unknown"
	}
}

func (p *process) start() {
	p.t.Helper()
	command := append(append([]string(nil), p.prefix...), os.Args[0], "-test.run", "^TestProcessNode$")
	p.cmd = exec.Command(command[0], command[1:]...)
	p.cmd.Dir = p.dir
	p.cmd.Env = append(os.Environ(), "CAIRN_TEST_NODE="+strings.Join(append([]string{p.addr}, p.join...), ","),
		"CAIRN_TEST_ADVERTISE="+p.advertise)
	p.cmd.Env = append(p.cmd.Env, p.env...)
	if logs := os.Getenv("CAIRN_TEST_LOG"); logs != "" { // a folder
		log, err := os.OpenFile(filepath.Join(logs, strings.ReplaceAll(p.addr, ":", "_")+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			p.t.Fatal(err)
		}
		defer log.Close()
		p.cmd.Stderr = log
	} else {
		p.errors = &tail{}
		p.cmd.Stderr = p.errors
	}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	exited := make(chan struct{})
	p.mu.Lock()
	p.in, p.pending, p.exited = in, map[int]chan string{}, exited
	p.mu.Unlock()
	cmd := p.cmd
	go func() {
		defer close(exited)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			p.deliver(lines.Text())
		}
		_ = cmd.Wait()
	}()
}

func (p *process) deliver(line string) {
	rest, ok := strings.CutPrefix(line, "answer ")
	if !ok {
		return
	}
	id, answer, _ := strings.Cut(rest, " ")
	n, _ := strconv.Atoi(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ch := p.pending[n]; ch != nil {
		ch <- answer
		delete(p.pending, n)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// kill ends the process without warning and waits for its end.
func (p *process) kill() {
	p.t.Helper()
	if p.ended() {
		p.t.Fatalf("%s ended by itself: %s", p.addr, p.errors)
	}
	p.signal(syscall.SIGKILL)
	<-p.exited
	_ = p.in.Close()
}

// ended reports whether the process is gone without having been killed.
func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

var errNoAnswer = errors.New("no answer")

// call sends one line and waits for the answer as long as the node may take.
func (p *process) call(op, key, client string, seq uint64, limit time.Duration) (string, error) {
	ch := make(chan string, 1)
	p.mu.Lock()
	p.last++
	id := p.last
	p.pending[id] = ch
	in, exited := p.in, p.exited
	p.mu.Unlock()
	if _, err := fmt.Fprintf(in, "%d %s %s %s %d %d\n", id, op, key, client, seq, limit.Milliseconds()); err != nil {
		return "", errNoAnswer
	}
	timer := time.NewTimer(limit + time.Second)
	defer timer.Stop()
	select {
	case answer := <-ch:
		if value, ok := strings.CutPrefix(answer, "ok "); ok {
			return value, nil
		}
		return "", errors.New(answer)
	case <-exited:
		return "", errNoAnswer
	case <-timer.C:
		return "", errNoAnswer
	}
}

// startProcesses starts a site of n processes.
func startProcesses(t *testing.T, n int) []*process {
	t.Helper()
	var addrs []string
	for range n {
		addrs = append(addrs, freeAddr(t))
	}
	nodes := make([]*process, n)
	for i := range nodes {
		p := &process{t: t, dir: filepath.Join(t.TempDir()), addr: addrs[i]}
		for j, a := range addrs {
			if j != i {
				p.join = append(p.join, a)
			}
		}
		p.startForTest()
		nodes[i] = p
	}
	return nodes
}

// startForTest starts the process and ends it with the test.
func (p *process) startForTest() {
	p.t.Helper()
	p.start()
	p.t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
}

// readLimit is how long a read of a process may take.
const readLimit = 5 * time.Second

// leading waits for a process other than but that leads.
func leading(t *testing.T, nodes []*process, but *process) *process {
	t.Helper()
	var leader *process
	eventually(t, "a leading process", func() bool {
		for _, p := range nodes {
			if p == but {
				continue
			}
			if answer, err := p.call("leader", "-", "-", 0, time.Second); err == nil && answer == "true" {
				leader = p
				return true
			}
		}
		return false
	})
	return leader
}

// insist repeats an increment under one sequence number until it is answered.
func insist(t *testing.T, nodes []*process, rng *rand.Rand, seq uint64) string {
	t.Helper()
	return insistFor(t, nodes, rng, seq, 2*time.Second)
}

// insistFor is insist with a limit for one try.
func insistFor(t *testing.T, nodes []*process, rng *rand.Rand, seq uint64, limit time.Duration) string {
	t.Helper()
	var value string
	eventually(t, fmt.Sprintf("the answer to increment %d", seq), func() bool {
		var err error
		value, err = nodes[rng.IntN(len(nodes))].call("inc", "n", "writer", seq, limit)
		if err != nil {
			t.Logf("increment %d: %v", seq, err)
		}
		return err == nil
	})
	return value
}

// TestKilledProcesses kills processes, mostly the leader, while increments go
// on, and counts them in the end.
func TestKilledProcesses(t *testing.T) {
	rounds := envInt("CAIRN_KILL_ROUNDS", 4)
	nodes := startProcesses(t, 3)
	rng := rand.New(rand.NewPCG(uint64(envInt("CAIRN_SOAK_SEED", 1)), 7))
	leading(t, nodes, nil)
	seq := uint64(0)
	for round := range rounds {
		victim := nodes[rng.IntN(3)]
		if round%2 == 0 {
			victim = leading(t, nodes, nil)
		}
		stop := make(chan struct{})
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			<-stop
			victim.kill()
		}()
		for i := range 20 {
			if i == 5 {
				close(stop)
			}
			seq++
			if got := insist(t, nodes, rng, seq); got != fmt.Sprint(seq) {
				t.Fatalf("round %d: increment %d gave %s", round, seq, got)
			}
		}
		<-killed
		victim.start()
	}
	hashes := map[string]bool{}
	for i, p := range nodes {
		eventually(t, "all nodes", func() bool {
			value, err := p.call("read", "n", "-", 0, 5*time.Second)
			if err == nil && value != fmt.Sprint(seq) {
				t.Fatalf("node %d counts %s, %d were acknowledged", i, value, seq)
			}
			return err == nil
		})
		hash, err := p.call("hash", "-", "-", 0, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		hashes[hash] = true
	}
	if len(hashes) != 1 {
		t.Errorf("%d different states", len(hashes))
	}
}

// TestStoppedLeaderServesNothingStale stops the leader, writes elsewhere, lets
// it run on and reads from it at once.
func TestStoppedLeaderServesNothingStale(t *testing.T) {
	nodes := startProcesses(t, 3)
	rng := rand.New(rand.NewPCG(3, 3))
	reads, stale := 0, 0
	seq := uint64(0)
	for range envInt("CAIRN_STOP_ROUNDS", 2) {
		old := leading(t, nodes, nil)
		seq++
		insist(t, nodes, rng, seq)
		old.signal(syscall.SIGSTOP)
		next := leading(t, nodes, old)
		seq++
		want := insist(t, []*process{next}, rng, seq)
		old.signal(syscall.SIGCONT)
		var wg sync.WaitGroup
		var mu sync.Mutex
		for range 10 {
			wg.Go(func() {
				for range 50 {
					value, err := old.call("read", "n", "-", 0, 2*time.Second)
					mu.Lock()
					if err == nil {
						reads++
						if value != want {
							stale++
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	t.Logf("%d reads answered, %d stale", reads, stale)
	if stale > 0 || reads == 0 {
		t.Errorf("%d of %d reads were stale", stale, reads)
	}
}
