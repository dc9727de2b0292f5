package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/node/api"
	"cairn/web/client"
)

// hammer writes from several clients and remembers what was acknowledged and what was only sent.
type hammer struct {
	client *client.Client
	name   string
	want   int
	enough chan struct{}

	mu    sync.Mutex
	next  int
	done  bool              // the server was killed: no more writes, also where another node would take them
	acked map[string]string // scenario -> id
	sent  map[string]bool
}

func cmdHammer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: hammer N DATA FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"), client.WithAttempts(1))
	ts.Check(err)
	h := &hammer{client: c, name: args[2], want: n, enough: make(chan struct{}), acked: map[string]string{}, sent: map[string]bool{}}
	h.run(func() { ts.Check(killed(serversOf(ts).end(args[1], 9))) })
	if len(h.acked) < n {
		ts.Fatalf("only %d writes were acknowledged, want %d", len(h.acked), n)
	}
	text, err := json.Marshal(map[string]any{"acked": h.acked, "sent": h.sent})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), text, 0o600))
}

// killed turns the exit of a killed process into success.
func killed(err error) error {
	if err == nil {
		return errors.New("the server ended by itself")
	}
	return nil
}

// run writes until the server is gone, which kill sees to once enough writes have been acknowledged.
func (h *hammer) run(kill func()) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for h.write() {
			}
		})
	}
	writersGone := make(chan struct{})
	go func() {
		wg.Wait()
		close(writersGone)
	}()
	select {
	case <-h.enough:
	case <-writersGone:
	}
	kill()
	h.mu.Lock()
	h.done = true
	h.mu.Unlock()
	<-writersGone
}

// write sends one lesson and reports false when there was no answer.
func (h *hammer) write() bool {
	h.mu.Lock()
	if h.done {
		h.mu.Unlock()
		return false
	}
	h.next++
	scenario := fmt.Sprintf("Hammer case %d of %s", h.next, h.name)
	h.sent[scenario] = true
	h.mu.Unlock()
	done, err := h.client.AddExperience(context.Background(), api.AddExperience{
		Scenario: scenario, Content: "Call hit(case=" + strconv.Itoa(len(scenario)) + ") for " + scenario,
	})
	if err != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acked[scenario] = done.Value.ID
	if len(h.acked) == h.want {
		close(h.enough)
	}
	return true
}

func cmdAcked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: acked FILE")
	}
	var h struct {
		Acked map[string]string
		Sent  map[string]bool
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &h))
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"), client.WithConsistency("linear"), client.WithAttempts(10))
	ts.Check(err)
	found, err := allExperiences(c)
	ts.Check(err)
	for scenario, id := range h.Acked {
		if got := found[scenario]; len(got) != 1 || got[0] != id {
			ts.Fatalf("%q was acknowledged as %s and is there as %v", scenario, id, got)
		}
	}
	for scenario, ids := range found {
		if len(ids) > 1 || strings.HasSuffix(scenario, args[0]) && !h.Sent[scenario] {
			ts.Fatalf("%q is there as %v", scenario, ids)
		}
	}
	ts.Logf("%d acknowledged, %d sent, %d there", len(h.Acked), len(h.Sent), len(found))
}

// allExperiences lists the ids of every scenario.
func allExperiences(c *client.Client) (map[string][]string, error) {
	out := map[string][]string{}
	p := api.Page{Limit: 500}
	for {
		l, err := c.Experiences(context.Background(), api.ListFilter{Page: p})
		if err != nil {
			return nil, err
		}
		for _, e := range l.Items {
			out[e.Scenario] = append(out[e.Scenario], e.ID)
		}
		if l.NextCursor == nil {
			return out, nil
		}
		p.Cursor = *l.NextCursor
	}
}
