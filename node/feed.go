package node

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

const (
	feedBatch   = 256
	alertEvents = "alert." // of nobody's pool, so that only the privileged see them
)

// position is a place in the feed: log entry and position within it. Delivery goes on strictly after it.
type position struct {
	epoch, index uint64
	sub          uint32
}

func (p position) String() string { return fmt.Sprintf("%d:%d.%d", p.epoch, p.index, p.sub) }

var errCursor = api.Invalid("cursor", "is not a feed cursor: <epoch>:<index>.<position>", nil)

func parsePosition(s string) (position, error) {
	epoch, rest, ok1 := strings.Cut(s, ":")
	index, sub, ok2 := strings.Cut(rest, ".")
	if !ok1 || !ok2 {
		return position{}, errCursor
	}
	e, err1 := decimal(epoch, 64)
	i, err2 := decimal(index, 64)
	b, err3 := decimal(sub, 32)
	if errors.Join(err1, err2, err3) != nil {
		return position{}, errCursor
	}
	return position{e, i, uint32(b)}, nil
}

// decimal reads digits only: ParseUint would take a sign or underscores in other bases.
func decimal(s string, bits int) (uint64, error) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, errCursor
	}
	return strconv.ParseUint(s, 10, bits)
}

// stream is one reader of the feed. It holds a position, not events: what is not read costs nothing.
type stream struct {
	n      *Node
	c      api.Caller
	filter api.FeedFilter
	at     position
	queue  []api.FeedMessage
}

// Feed opens a stream strictly after a cursor; an empty cursor starts with what comes next.
func (n *Node) Feed(ctx context.Context, c api.Caller, cursor string, f api.FeedFilter) (api.FeedStream, error) {
	if err := n.reach(ctx, cursor); err != nil {
		return nil, err
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	if err := checkFeedFilter(f); err != nil {
		return nil, err
	}
	site, err := v.Site()
	if err != nil || site == nil {
		return nil, orDefault(err, api.Unavailable("the site is not bootstrapped", time.Second, nil))
	}
	s := &stream{n: n, c: c, filter: f, at: position{epoch: site.Epoch, index: v.Index() + 1}}
	if cursor == "" {
		s.queue = []api.FeedMessage{{Type: "welcome", Cursor: s.at.String(), Node: n.NodeID()}}
		return s, nil
	}
	return s, s.resume(v, ns, site, cursor)
}

// reach waits where a cursor from another node is ahead of what this one has applied. What the whole site has not reached
// is refused later as no cursor of this site.
func (n *Node) reach(ctx context.Context, cursor string) error {
	p, err := parsePosition(cursor)
	if at, _ := n.store.Applied(); err != nil || p.index <= at+1 {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, sessionWait)
	defer cancel()
	if err := n.group.Barrier(wait); err != nil {
		return api.Unavailable("this node has not reached the cursor yet", time.Second, err)
	}
	return nil
}

func checkFeedFilter(f api.FeedFilter) error {
	for _, list := range [][]string{f.Types, f.Pools, f.TaskTypes, f.Agents} {
		if err := checkWords("filters", list, 64); err != nil {
			return err
		}
	}
	if !inUnit(f.MinTrust) {
		return api.Invalid("filters.min_trust", "must be 0..1", nil)
	}
	return nil
}

// resume goes on after a cursor. One from an older epoch, or from before what is kept, gets a gap: what was missed is to be
// read from the lists.
func (s *stream) resume(v *store.View, ns *store.Namespace, site *store.Site, cursor string) error {
	p, err := parsePosition(cursor)
	if err != nil {
		return err
	}
	if p.epoch > site.Epoch || p.epoch == site.Epoch && p.index > v.Index()+1 {
		return errCursor
	}
	s.queue = []api.FeedMessage{{Type: "welcome", Cursor: cursor, Node: s.n.NodeID()}}
	oldest, err := v.OldestEvent(ns)
	if err != nil {
		return err
	}
	s.at = p
	if p.epoch < site.Epoch || p.index+1 < oldest {
		to := position{epoch: site.Epoch, index: oldest}
		if p.epoch < site.Epoch {
			to.index = v.Index() + 1
		}
		s.queue = append(s.queue, api.FeedMessage{Type: "gap", From: cursor, To: to.String(), Snapshot: "/v1/meta?limit=500"})
		s.at = to
	}
	return nil
}

// Close ends the stream. It holds nothing that must be released.
func (s *stream) Close() {}

// Next blocks until there is a message.
func (s *stream) Next(ctx context.Context) (api.FeedMessage, error) {
	for {
		if len(s.queue) > 0 {
			m := s.queue[0]
			s.queue = s.queue[1:]
			return m, nil
		}
		changed := s.n.store.Changed()
		more, err := s.read()
		if err != nil {
			return api.FeedMessage{}, err
		}
		if len(s.queue) > 0 || more {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return api.FeedMessage{}, ctx.Err()
		}
	}
}

// read takes the next events that the caller may see. more says that there are others behind those looked at.
func (s *stream) read() (more bool, err error) {
	v, ns, err := s.n.openFor(s.c)
	if err != nil {
		return false, err
	}
	defer v.Close()
	if replaced, err := s.replaced(v); replaced || err != nil {
		return replaced, err
	}
	type found struct {
		at position
		e  *store.Event
	}
	var list []found
	looked := 0
	err = v.Events(ns, s.at.index, s.at.sub, func(index uint64, sub uint32, e *store.Event) bool {
		looked++
		s.at.index, s.at.sub = index, sub
		if s.wants(v, ns, e) {
			list = append(list, found{s.at, e})
		}
		return looked < feedBatch
	})
	if err != nil {
		return false, err
	}
	last := map[store.ID]int{} // of trust.changed: only the newest of a batch says something
	for i, x := range list {
		if x.e.Type == "trust.changed" {
			last[x.e.Experience] = i
		}
	}
	for i, x := range list {
		if x.e.Type == "trust.changed" && last[x.e.Experience] != i {
			continue
		}
		m, ok, err := s.message(v, ns, x.at, x.e)
		if err != nil {
			return false, err
		}
		if ok {
			s.queue = append(s.queue, m)
		}
	}
	return looked == feedBatch, nil
}

// replaced notices that the site was restored from a backup while the stream was open: what came between is a gap.
func (s *stream) replaced(v *store.View) (bool, error) {
	site, err := v.Site()
	if err != nil || site == nil || site.Epoch == s.at.epoch {
		return false, err
	}
	from := s.at.String()
	s.at = position{epoch: site.Epoch, index: v.Index() + 1}
	s.queue = append(s.queue, api.FeedMessage{Type: "gap", From: from, To: s.at.String(), Snapshot: "/v1/meta?limit=500"})
	return true, nil
}

// wants applies scope first, then the filter's fields that the record holds.
func (s *stream) wants(v *store.View, ns *store.Namespace, e *store.Event) bool {
	if !privileged(s.c) && !s.reads(e) && e.Agent != s.c.Agent && (e.Pool != "meta" || e.Unit != "" && e.Principal != s.c.Principal) &&
		!s.told(v, ns, e) {
		return false
	}
	f := s.filter
	return matches(f.Types, e.Type) && matches(f.Agents, e.Agent) && matches(f.TaskTypes, e.TaskType) &&
		(len(f.Pools) == 0 || slices.Contains(f.Pools, e.Pool) || slices.Contains(f.Pools, "own") && e.Pool == "agent:"+s.c.Agent)
}

// reads reports whether an event is about the ledger of the caller's principal.
func (s *stream) reads(e *store.Event) bool {
	return e.Type == "ledger.changed" && e.Principal == s.c.Principal
}

// told reports whether an event calls back what the caller was given.
func (s *stream) told(v *store.View, ns *store.Namespace, e *store.Event) bool {
	if e.Type != "experience.revoked" {
		return false
	}
	agent, err := v.Agent(ns, s.c.Agent)
	if err != nil || agent == nil {
		return false
	}
	given, err := v.WasGiven(ns, agent.Number, e.Experience)
	return err == nil && given
}

func matches(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }

// message renders an event: the stored record holds ids, what they mean is read now.
func (s *stream) message(v *store.View, ns *store.Namespace, at position, e *store.Event) (api.FeedMessage, bool, error) {
	m := api.FeedMessage{
		Type: "event", Cursor: at.String(), Time: api.Time(e.Time), Index: at.index, Event: e.Type, Agent: e.Agent,
		Principal: e.Principal, Data: map[string]any{},
	}
	for k, x := range e.Data {
		m.Data[k] = number(k, x)
	}
	if strings.HasPrefix(e.Type, alertEvents) {
		renderAlert(m.Data, e.Data)
	}
	if e.Experience == (store.ID{}) {
		return m, s.filter.MinTrust == 0, nil
	}
	m.Experience = e.Experience.String()
	m.Data["pool"], m.Data["task_type"] = e.Pool, e.TaskType
	exp, err := v.Experience(ns, e.Experience)
	if err != nil || exp == nil {
		return m, s.filter.MinTrust == 0, err
	}
	ok, err := s.n.sees(v, ns, s.c, exp)
	if err == nil && !ok && s.told(v, ns, e) {
		m.Data["status"] = string(exp.Status)
		return m, s.filter.MinTrust == 0, nil
	}
	if err != nil || !ok {
		return m, false, err
	}
	m.Data["status"], m.Data["kind"], m.Data["version"], m.Data["scenario"] = string(exp.Status), string(exp.Kind), exp.Version, exp.Scenario
	if exp.Trust != nil {
		m.Data["trust"] = score(exp.Trust.Trust)
	}
	return m, s.filter.MinTrust == 0 || exp.Trust != nil && score(exp.Trust.Trust) >= s.filter.MinTrust, nil
}

// renderAlert gives the lists and numbers of an alert their types; those that a cleared alert lacks stay absent.
func renderAlert(into map[string]any, data map[string]string) {
	for _, k := range []string{"members", "experiences"} {
		if list, ok := data[k]; ok {
			into[k] = strings.Fields(list)
		}
	}
	for _, k := range []string{"value", "limit"} {
		if m, err := strconv.ParseInt(data[k], 10, 64); err == nil {
			into[k] = score(m)
		}
	}
}

// number shows the micro-unit fields of an event's data as scores.
func number(k, x string) any {
	switch k {
	case "before", "after", "trust":
		if m, err := strconv.ParseInt(x, 10, 64); err == nil && math.Abs(float64(m)) <= float64(federation.One) {
			return score(m)
		}
	}
	return x
}

// Jobs lists the jobs that are not done. Their content is the privileged's business.
func (n *Node) Jobs(_ context.Context, c api.Caller, status string, p api.Page) (api.List[api.Job], error) {
	if !privileged(c) {
		return api.List[api.Job]{}, api.Denied("needs the role admin, curator or auditor")
	}
	if err := checkChoice("query.status", status, "", store.JobQueued, store.JobLeased, store.JobDone, store.JobDead); err != nil {
		return api.List[api.Job]{}, err
	}
	return inPage(n, c, p, "jobs", func(v *store.View, ns *store.Namespace, at page) (api.List[api.Job], error) {
		return collect(at, v.Jobs, func(j *store.Job) (api.Job, bool, error) {
			return renderJob(j), j.Namespace == ns.ID && (status == "" || j.Status == status), nil
		})
	})
}

func renderJob(j *store.Job) api.Job {
	return api.Job{
		ID: j.ID.String(), Kind: j.Kind, Status: j.Status, Subject: j.Subject.String(), Tries: j.Tries, Error: j.Error,
		DueAt: api.Time(j.Due), CreatedAt: api.Time(j.CreatedAt),
	}
}

// RetryJob puts a dead job back into the queue.
func (n *Node) RetryJob(ctx context.Context, c api.Caller, id string, w api.Write) (api.Done[api.Job], error) {
	if err := needAdmin(c); err != nil {
		return api.Done[api.Job]{}, err
	}
	jid, err := parseID("path.id", id)
	if err != nil {
		return api.Done[api.Job]{}, err
	}
	job, res, err := call[store.Job](ctx, n, c, w, store.KindRetryJob, func(*store.View, *store.Namespace) (any, error) {
		return store.JobID{ID: jid}, nil
	})
	return done(renderJob(&job), res, 200), err
}
