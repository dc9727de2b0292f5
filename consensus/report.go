package consensus

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// report is what nodes tell each other at every interval.
type report struct {
	Applied uint64 `json:"applied"`
	Halted  bool   `json:"halted,omitempty"`
	Full    bool   `json:"full,omitempty"`
	// Hashes are the state hashes at the newest boundaries, see hashLog.
	Hashes map[uint64][]byte `json:"hashes,omitempty"`
}

// reports holds the last report of every peer.
type reports struct {
	mu   sync.Mutex
	last map[string]heardReport
}

type heardReport struct {
	report
	at time.Time
}

func (r *reports) put(id string, rep report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]heardReport{}
	}
	r.last[id] = heardReport{rep, time.Now()}
}

// latest is the last report of id, however old.
func (r *reports) latest(id string) (heardReport, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.last[id]
	return h, ok
}

// fresh is the last report of id if it is at most age old.
func (r *reports) fresh(id string, age time.Duration) (heardReport, bool) {
	h, ok := r.latest(id)
	return h, ok && time.Since(h.at) <= age
}

// reportInterval is the time between two reports to a peer.
func (g *Group) reportInterval() time.Duration { return 2 * g.cfg.HeartbeatTimeout }

// exchangeReports asks every peer for its report until the group closes, gives
// votes to nodes that have caught up and compares states.
func (g *Group) exchangeReports() {
	tick := time.NewTicker(g.reportInterval())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-g.stop:
			return
		}
		in := g.inst.Load()
		g.askReports(in)
		g.promote(in)
		g.compareStates(in)
	}
}

func (g *Group) ownReport() report {
	return report{
		Applied: g.run.applied.Load(),
		Halted:  g.run.haltReason() != nil,
		Full:    g.disk.full(),
		Hashes:  g.run.hashes.all(),
	}
}

// askReports asks all peers at once; those that do not answer keep the old one.
func (g *Group) askReports(in *instance) {
	peers := in.members()
	if len(peers) < 2 {
		return
	}
	body, err := json.Marshal(g.ownReport())
	if err != nil {
		g.log.Error("encode report", "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.reportInterval())
	defer cancel()
	defer g.stopContext(cancel)()
	var wg sync.WaitGroup
	for _, s := range peers {
		if string(s.ID) != g.id {
			wg.Go(func() { g.askReport(ctx, s, body) })
		}
	}
	wg.Wait()
}

func (g *Group) askReport(ctx context.Context, s raft.Server, own []byte) {
	raw, err := g.client.call(ctx, g.addrs.resolve(s.ID, s.Address), methodReport, own, nil)
	if err != nil {
		g.log.Debug("ask for a report", "id", string(s.ID), "error", err)
		return
	}
	var rep report
	if err := json.Unmarshal(raw, &rep); err != nil {
		g.log.Warn("report is not readable", "id", string(s.ID), "error", err)
		return
	}
	g.reports.put(string(s.ID), rep)
}

// answerReport takes a peer's report and gives the own one.
func (g *Group) answerReport(from string, body []byte) ([]byte, error) {
	var rep report
	if err := json.Unmarshal(body, &rep); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	g.reports.put(from, rep)
	return json.Marshal(g.ownReport())
}

// compareStates halts this node when a majority of the voters agrees on
// another state at an index than the one computed here.
func (g *Group) compareStates(in *instance) {
	own := g.run.hashes.all()
	if len(own) == 0 {
		return
	}
	members := in.members()
	for index, hash := range own {
		same, voters := 1, 0
		other := map[string]int{}
		for _, s := range members {
			if s.Suffrage == raft.Voter {
				voters++
			}
			h, ok := g.reports.latest(string(s.ID))
			theirs, has := h.Hashes[index]
			switch {
			case string(s.ID) == g.id || !ok || !has:
			case bytes.Equal(theirs, hash):
				same++
			default:
				other[string(theirs)]++
			}
		}
		for _, n := range other {
			g.reportMismatch(index, n > voters/2)
		}
	}
}

func (g *Group) reportMismatch(index uint64, minority bool) {
	if !minority {
		g.metrics.mismatches.Inc()
		g.log.Error("another node has a different state", "index", index)
		return
	}
	g.run.halt(fmt.Errorf("state at index %d differs from the majority of the site; remove the data folder and let the node join anew", index))
}
