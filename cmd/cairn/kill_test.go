package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/node/api"
	"cairn/web/client"
)

// cmdRows writes a file of recorded attempts: N tasks with a failure and a success each.
func cmdRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rows N FILE")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var out bytes.Buffer
	for i := range n {
		step := func(tool, seen string) map[string]any {
			return map[string]any{"tool": tool, "args": map[string]string{"order": fmt.Sprint(1000 + i)}, "observation": seen}
		}
		for attempt := range 2 {
			row := map[string]any{
				"task_id": fmt.Sprintf("t%d", i), "domain": fmt.Sprintf("shop%d", i%3), "task": fmt.Sprintf("Give back the money for order %d", 1000+i),
				"attempt": attempt, "agent": fmt.Sprintf("m%d", i%2), "reward": attempt, "success": attempt == 1,
				"steps": []any{step("refund", "error: order is not open")},
			}
			if attempt == 1 {
				row["steps"] = []any{step("open_order", "open"), step("refund", "paid")}
			}
			ts.Check(json.NewEncoder(&out).Encode(row))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}

// cmdKilling runs cairn, and kills a server once the site has recorded N trajectories.
func cmdKilling(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: killing DATA N cairn-argument...")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	cmd := exec.Command(findCairn(ts), args[2:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "CAIRN_ADDR="+ts.Getenv("CAIRN_ADDR"), "CAIRN_KEY="+ts.Getenv("CAIRN_KEY"))
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = ts.Stdout(), &stderr
	ts.Check(cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	killedIt := false
	for {
		select {
		case err := <-done:
			if err != nil || !killedIt {
				ts.Fatalf("cairn %s: %v, killed %v\n%s", strings.Join(args[2:], " "), err, killedIt, stderr.String())
			}
			return
		case <-tick.C:
			if !killedIt && statsOf(ts).Counters["trajectories"] >= n {
				ts.Check(killed(serversOf(ts).end(args[0], syscall.SIGKILL)))
				killedIt = true
			}
		}
	}
}

func statsOf(ts *testscript.TestScript) api.Stats {
	c, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"), client.WithConsistency("local"))
	ts.Check(err)
	s, err := c.Stats(context.Background())
	ts.Check(err)
	return s
}

// cmdCounts waits until the node at hand has no work left, and prints what the site recorded and made of it.
func cmdCounts(ts *testscript.TestScript, _ bool, _ []string) {
	limit := time.NewTimer(3 * time.Minute) // a job leased by a node that was killed runs again when its lease ends
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last api.Stats
	for {
		s := statsOf(ts)
		if s.Jobs["queued"]+s.Jobs["leased"] == 0 && reflect.DeepEqual(s.Counters, last.Counters) {
			text, err := json.MarshalIndent(map[string]any{
				"experiences": s.Experiences, "pools": s.Pools, "routes": s.Routes, "counters": s.Counters, "discarded": s.Discarded, "dead": s.Jobs["dead"],
			}, "", " ")
			ts.Check(err)
			fmt.Fprintf(ts.Stdout(), "%s\n", text)
			return
		}
		last = s
		select {
		case <-tick.C:
		case <-limit.C:
			ts.Fatalf("work is left: %+v", s.Jobs)
		}
	}
}
