package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/web/client"
)

// loaded is what was written around a command, scenario -> id.
type loaded struct {
	Before map[string]string // acknowledged before it began
	After  map[string]string // sent after it ended, and acknowledged
	Sent   map[string]bool
}

// enoughWrites is how many writes are acknowledged before the command begins, and sent after it ended.
const enoughWrites = 25

// cmdDuring runs cairn while four clients write, and notes in a file what they wrote.
func cmdDuring(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: during FILE cairn-argument...")
	}
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"), client.WithAttempts(1))
	ts.Check(err)
	h := &hammer{client: c, name: args[0], want: enoughWrites, enough: make(chan struct{}), acked: map[string]string{}, sent: map[string]bool{}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(h.writeOn)
	}
	stopped := sync.OnceFunc(func() {
		h.mu.Lock()
		h.done = true
		h.mu.Unlock()
		wg.Wait()
	})
	defer stopped()
	await(ts, h.enough)
	h.mu.Lock()
	out := loaded{Before: maps.Clone(h.acked), After: map[string]string{}, Sent: h.sent}
	h.mu.Unlock()

	cmd := exec.Command(findCairn(ts), args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "CAIRN_ADDR="+ts.Getenv("CAIRN_ADDR"), "CAIRN_KEY="+ts.Getenv("CAIRN_KEY"))
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = ts.Stdout(), &stderr
	if err := cmd.Run(); err != nil {
		ts.Fatalf("cairn %s: %v\n%s", strings.Join(args[1:], " "), err, stderr.String())
	}

	h.mu.Lock()
	sentBefore := maps.Clone(h.sent)
	h.want, h.enough = len(h.acked)+enoughWrites, make(chan struct{})
	enough := h.enough
	h.mu.Unlock()
	await(ts, enough)
	stopped()
	for scenario, id := range h.acked {
		if !sentBefore[scenario] {
			out.After[scenario] = id
		}
	}
	text, err := json.Marshal(out)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
}

func await(ts *testscript.TestScript, enough <-chan struct{}) {
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	select {
	case <-enough:
	case <-limit.C:
		ts.Fatalf("writes are not acknowledged")
	}
}

// writeOn writes until it is told to end, also over errors.
func (h *hammer) writeOn() {
	for {
		h.write()
		h.mu.Lock()
		done := h.done
		h.mu.Unlock()
		if done {
			return
		}
	}
}

// cmdKept checks what is there of the writes noted by during: all that were acknowledged before (or sent after) the
// command, once each, and nothing that was never sent.
func cmdKept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || args[0] != "before" && args[0] != "after" {
		ts.Fatalf("usage: kept before|after FILE")
	}
	var l loaded
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &l))
	must := l.Before
	if args[0] == "after" {
		must = l.After
	}
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"), client.WithConsistency("linear"), client.WithAttempts(10))
	ts.Check(err)
	found, err := allExperiences(c)
	ts.Check(err)
	for scenario, id := range must {
		if got := found[scenario]; len(got) != 1 || got[0] != id {
			ts.Fatalf("%q was acknowledged as %s and is there as %v", scenario, id, got)
		}
	}
	for scenario, ids := range found {
		if len(ids) > 1 || strings.HasSuffix(scenario, args[1]) && !l.Sent[scenario] {
			ts.Fatalf("%q is there as %v", scenario, ids)
		}
	}
	ts.Logf("%d of %d sent are there, %d had to be", len(found), len(l.Sent), len(must))
}
