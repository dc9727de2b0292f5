package consensus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/raft"
)

// joinRequest is what a node says of itself when it looks for the site.
type joinRequest struct {
	ID      string `json:"id"`
	Address string `json:"address"`
	// Expect is the node's BootstrapExpect.
	Expect int `json:"expect"`
	// HasState: the node has a log or a vote, so it was in a site before.
	HasState bool `json:"has_state"`
	// Blank: all that the node has is a term. The leader that was taking it in
	// fell before it got any entry; it has cast no vote and may begin anew.
	Blank bool `json:"blank,omitempty"`
}

// joinAnswer is what the node asked says.
type joinAnswer struct {
	joinRequest
	// Joined: the node asked leads, and the asking node is in the configuration.
	Joined bool `json:"joined"`
	// Leader is the peer address of the leader that the node asked follows.
	Leader string `json:"leader,omitempty"`
}

// srvPrefix marks an entry of Config.Join that is a DNS SRV name.
const srvPrefix = "srv:"

// announce makes this node known until its own log shows it as a member at its
// present address, and again whenever no leader is heard for a while. It first
// tries to join; only where every expected node is in sight and none has state
// does it form a new site.
func (g *Group) announce() {
	for {
		pause := g.announceOnce()
		select {
		case <-g.stop:
			return
		default:
		}
		if !g.pauseFor(pause) {
			return
		}
	}
}

// announceOnce does one round and says how long to wait for the next.
func (g *Group) announceOnce() time.Duration {
	if g.settled() {
		return 4 * g.cfg.HeartbeatTimeout
	}
	ctx, cancel := context.WithTimeout(context.Background(), g.cfg.PeerTimeout)
	defer cancel()
	defer g.stopContext(cancel)()
	if g.IsLeader() {
		// It moved and was elected before anybody wrote its address down; there
		// is no other leader to ask.
		if err := g.admit(ctx, joinRequest{ID: g.id, Address: g.PeerAddr()}); err != nil {
			g.log.Debug("write down the own address", "error", err)
		}
		return g.cfg.HeartbeatTimeout
	}
	found, joined := g.askAround(ctx)
	if !joined {
		g.formSite(found)
	}
	return g.cfg.HeartbeatTimeout
}

// askAround asks at every address where the site may be, and first at the
// leader that somebody names. It returns who was found, by id, and whether the
// leader has taken this node in.
func (g *Group) askAround(ctx context.Context) (found map[string]joinAnswer, joined bool) {
	found = map[string]joinAnswer{}
	asked := map[string]bool{g.PeerAddr(): true}
	queue := g.joinTargets(ctx)
	for len(queue) > 0 && ctx.Err() == nil {
		addr := g.withMemberID(queue[0])
		queue = queue[1:]
		if asked[plainAddr(addr)] {
			continue
		}
		asked[plainAddr(addr)] = true
		answer, err := g.askToJoin(ctx, addr)
		id, _ := splitID(addr)
		switch {
		case errors.Is(err, ErrRemoved) && id != "":
			g.onRemoved()
			return found, true
		case errors.Is(err, ErrRemoved):
			// Only a member that this node knows may send it away: at this
			// address there may be a site formed by mistake.
			g.log.Warn("the node asked leads a site that does not know this one; is the folder from another site?", "address", addr)
			continue
		case err != nil:
			g.log.Debug("ask to join", "address", addr, "error", err)
			continue
		case answer.Joined:
			return found, true
		}
		found[answer.ID] = answer
		if answer.Leader != "" {
			queue = append([]string{answer.Leader}, queue...)
		}
	}
	return found, false
}

// stopContext calls cancel when the group closes; the result ends the watch.
func (g *Group) stopContext(cancel context.CancelFunc) (end func()) {
	done := make(chan struct{})
	g.loops.Go(func() {
		select {
		case <-g.stop:
			cancel()
		case <-done:
		}
	})
	return func() { close(done) }
}

// settled reports whether there is nothing to announce.
func (g *Group) settled() bool {
	if g.removed.Load() {
		return true
	}
	in := g.inst.Load()
	if _, leader := in.raft.LeaderWithID(); leader == "" {
		// A site of one cannot ask anybody, and a leader will come.
		return in.aloneInSite(raft.ServerID(g.id)) && len(g.cfg.Join) == 0
	}
	for _, s := range in.members() {
		if string(s.ID) == g.id {
			return string(s.Address) == g.PeerAddr()
		}
	}
	return false
}

// withMemberID adds the id of the member that the log knows at addr, if any, so
// that nobody else can answer there.
func (g *Group) withMemberID(addr string) string {
	for _, s := range g.members() {
		if string(s.Address) == addr && string(s.ID) != g.id {
			return string(withID(s.ID, s.Address))
		}
	}
	return addr
}

// joinTargets lists where the site may be found: what the operator said, then
// the members that this node remembers.
func (g *Group) joinTargets(ctx context.Context) []string {
	var targets []string
	for _, entry := range g.cfg.Join {
		targets = append(targets, resolveJoin(ctx, g.cfg.resolver, entry)...)
	}
	for _, s := range g.inst.Load().members() {
		if string(s.ID) != g.id {
			targets = append(targets, g.addrs.resolve(s.ID, s.Address))
		}
	}
	return targets
}

// resolveJoin turns one entry of Config.Join into addresses: a name with
// several A or AAAA records gives one each, an SRV name what its records say.
func resolveJoin(ctx context.Context, resolver *net.Resolver, entry string) []string {
	if name, ok := strings.CutPrefix(entry, srvPrefix); ok {
		_, records, err := resolver.LookupSRV(ctx, "", "", name)
		if err != nil {
			return nil
		}
		var out []string
		for _, r := range records {
			out = append(out, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), fmt.Sprint(r.Port)))
		}
		return out
	}
	host, port, err := net.SplitHostPort(entry)
	if err != nil {
		return nil
	}
	ips, err := resolver.LookupHost(ctx, host)
	if err != nil || len(ips) < 2 {
		return []string{entry} // one address: the name is resolved at dial time
	}
	out := make([]string, len(ips))
	for i, ip := range ips {
		out[i] = net.JoinHostPort(ip, port)
	}
	return out
}

// introduce is what this node says of itself.
func (g *Group) introduce() (joinRequest, error) {
	has, err := raft.HasExistingState(g.store, g.store, g.snaps)
	if err != nil {
		return joinRequest{}, err
	}
	blank, err := g.blank()
	return joinRequest{
		ID: g.id, Address: g.PeerAddr(), Expect: g.cfg.BootstrapExpect, HasState: has, Blank: blank,
	}, err
}

// blank reports whether this node has no entry, no snapshot, no state and has
// never cast a vote.
func (g *Group) blank() (bool, error) {
	last, err := g.store.LastIndex()
	if err != nil || last > 0 || g.snaps.latest() != nil || g.run.applied.Load() > 0 {
		return false, err
	}
	_, err = g.store.GetUint64([]byte(lastVoteTermKey))
	if errors.Is(err, errNotFound) {
		return true, nil
	}
	return false, err
}

func (g *Group) askToJoin(ctx context.Context, addr string) (joinAnswer, error) {
	var answer joinAnswer
	self, err := g.introduce()
	if err != nil {
		return answer, err
	}
	body, err := json.Marshal(self)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, max(g.cfg.PeerTimeout/2, g.cfg.HeartbeatTimeout))
	defer cancel()
	raw, err := g.client.call(ctx, addr, methodJoin, body, nil)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(raw, &answer)
}

// formSite starts a new site when all expected nodes have been found without
// state. The one with the lowest id does it, so that only one does.
func (g *Group) formSite(found map[string]joinAnswer) {
	self, err := g.introduce()
	if err != nil || self.HasState || self.Expect < 2 {
		return
	}
	all := map[string]joinRequest{g.id: self}
	for id, a := range found {
		if a.HasState || a.Expect != self.Expect {
			return
		}
		all[id] = a.joinRequest
	}
	if len(all) != self.Expect || slices.Min(slices.Collect(maps.Keys(all))) != g.id {
		return
	}
	var members raft.Configuration
	for _, id := range slices.Sorted(maps.Keys(all)) {
		members.Servers = append(members.Servers, raft.Server{
			Suffrage: raft.Voter, ID: raft.ServerID(id), Address: raft.ServerAddress(all[id].Address),
		})
	}
	if err := g.inst.Load().raft.BootstrapCluster(members).Error(); err != nil {
		g.log.Warn("form a new site", "error", err)
		return
	}
	g.log.Info("new site", "nodes", len(members.Servers))
}

// answerJoin answers a node that looks for the site, and admits it when this
// node leads.
func (g *Group) answerJoin(ctx context.Context, body []byte) ([]byte, error) {
	var req joinRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return nil, fmt.Errorf("join request: %w", err)
	}
	self, err := g.introduce()
	if err != nil {
		return nil, err
	}
	answer := joinAnswer{joinRequest: self}
	if req.ID != g.id {
		g.addrs.learn(req.ID, req.Address)
		if g.IsLeader() {
			err = g.admit(ctx, req)
			answer.Joined = err == nil
		} else if id, addr := g.leaderAt(g.inst.Load().raft); string(id) != g.id {
			answer.Leader = plainAddr(addr)
		}
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}
