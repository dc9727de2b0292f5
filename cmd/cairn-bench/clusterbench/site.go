package clusterbench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// system is one of the two stores: how its processes are started and spoken to.
type system interface {
	name() string
	// node is the command of member i of the site in dir.
	node(dir string, i int) *exec.Cmd
	// client is the address that clients use for member i.
	client(i int) string
	// leads reports whether member i leads.
	leads(ctx context.Context, i int) bool
	// load and probe are the commands of client processes.
	load(o LoadOptions) *exec.Cmd
	probe(o ProbeOptions) *exec.Cmd
}

const siteNodes = 3

// site is the processes of one system, three or fewer.
type site struct {
	system system
	dir    string
	procs  [siteNodes]*process // nil: not of the site
}

// process is a child that is killed with its site.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	text bytes.Buffer
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.text
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// kill ends the process without warning and waits for its end.
func (p *process) kill() {
	if p == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGCONT)
	_ = p.cmd.Process.Kill()
	<-p.done
}

// startSite starts the first nodes of a system on new folders under parent and waits for a leader.
func startSite(ctx context.Context, s system, nodes int, parent string) (*site, error) {
	dir, err := os.MkdirTemp(parent, s.name()+"-")
	if err != nil {
		return nil, err
	}
	t := &site{system: s, dir: dir}
	for i := range nodes {
		if err := t.start(i); err != nil {
			t.stop()
			return nil, err
		}
	}
	if _, err := t.leader(ctx); err != nil {
		t.stop()
		return nil, err
	}
	return t, nil
}

func (t *site) start(i int) error {
	p, err := startProcess(t.system.node(filepath.Join(t.dir, fmt.Sprint(i)), i))
	t.procs[i] = p
	return err
}

// stop kills all nodes and removes their folders.
func (t *site) stop() {
	for _, p := range t.procs {
		p.kill()
	}
	_ = os.RemoveAll(t.dir)
}

// leaderPause is the time between two looks for a leader.
const leaderPause = 50 * time.Millisecond

// leaderTimeout bounds the wait for a leader.
const leaderTimeout = 60 * time.Second

// leader waits for a node that leads, other than the ones that are excepted.
func (t *site) leader(ctx context.Context, except ...int) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	skip := map[int]bool{}
	for _, i := range except {
		skip[i] = true
	}
	for {
		for i := range t.procs {
			if t.procs[i] != nil && !skip[i] && t.system.leads(ctx, i) {
				return i, nil
			}
		}
		if err := pause(ctx, leaderPause); err != nil {
			return 0, fmt.Errorf("%s: no leader: %w; %s", t.system.name(), err, t.complaints())
		}
	}
}

// complaints is the end of what the nodes wrote.
func (t *site) complaints() string {
	var out []string
	for _, p := range t.procs {
		if p == nil {
			continue
		}
		select {
		case <-p.done:
			out = append(out, lastLine(p.text.String()))
		default:
		}
	}
	return strings.Join(out, " | ")
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// run drives node i with a load process and gives operations a second.
func (t *site) run(ctx context.Context, i int, o LoadOptions) (float64, error) {
	o.Addr = t.system.client(i)
	cmd := t.system.load(o)
	var errText bytes.Buffer
	cmd.Stderr = &errText
	stop := context.AfterFunc(ctx, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Kill()
		}
	})
	defer stop()
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: load %s with %d clients: %w: %s", t.system.name(), o.Op, o.Clients, err, lastLine(errText.String()))
	}
	var l loaded
	if err := json.Unmarshal(out, &l); err != nil {
		return 0, fmt.Errorf("%s: load %s: %w", t.system.name(), o.Op, err)
	}
	return float64(l.Ops) / l.Seconds, nil
}

// pause waits d or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ack is one acknowledged write of a probe.
type ack struct{ begin, end time.Time }

// probing is a probe process and what it has printed.
type probing struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	acks []ack
	more chan struct{} // one signal for any number of new acks
	end  chan struct{}
}

func (t *site) probe(i int, every time.Duration, size int) (*probing, error) {
	p := &probing{
		cmd:  t.system.probe(ProbeOptions{Addr: t.system.client(i), Every: every, Size: size}),
		more: make(chan struct{}, 1), end: make(chan struct{}),
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start probe: %w", err)
	}
	go p.read(out)
	return p, nil
}

func (p *probing) read(out io.Reader) {
	defer close(p.end)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var begin, end int64
		if _, err := fmt.Sscan(lines.Text(), &begin, &end); err != nil {
			continue
		}
		p.mu.Lock()
		p.acks = append(p.acks, ack{time.Unix(0, begin), time.Unix(0, end)})
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
	}
}

func (p *probing) stop() {
	_ = p.cmd.Process.Kill()
	<-p.end
	_ = p.cmd.Wait()
}

func (p *probing) snapshot() []ack {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]ack(nil), p.acks...)
}

// until waits for a time after which enough says that it has seen all it needs.
func (p *probing) until(ctx context.Context, enough func([]ack) bool) error {
	ctx, cancel := context.WithTimeout(ctx, leaderTimeout)
	defer cancel()
	for !enough(p.snapshot()) {
		select {
		case <-p.more:
		case <-p.end:
			return errors.New("the probe ended")
		case <-ctx.Done():
			return fmt.Errorf("wait for acknowledged writes: %w", ctx.Err())
		}
	}
	return nil
}

// freePorts finds ports of loopback that nobody uses.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().String())
	}
	return out, nil
}
