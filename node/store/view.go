package store

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"cairn/federation"
)

// View is a consistent snapshot of the state. It is safe for concurrent use and must be closed.
type View struct {
	gen   *generation
	snap  *pebble.Snapshot
	index uint64
	now   int64
}

// View opens a snapshot. Position and data belong together.
func (s *Store) View() (*View, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.gen == nil {
		return nil, ErrClosed
	}
	s.gen.refs.Add(1)
	// The position is published after its batch, so the snapshot holds at least what the position says.
	return &View{gen: s.gen, snap: s.gen.db.NewSnapshot(), index: s.pos.Index, now: s.pos.Now}, nil
}

// Close releases the snapshot.
func (v *View) Close() {
	if err := v.snap.Close(); err != nil {
		v.gen.log.Error("close view", "error", err)
	}
	v.gen.release()
}

// Index is the applied index that the view holds at least.
func (v *View) Index() uint64 { return v.index }

// Now is the state machine's time at Index, Unix ms.
func (v *View) Now() int64 { return v.now }

func (v *View) get(k []byte, out any) (bool, error) {
	if v.gen.hot.complete {
		return v.gen.hot.read(k, out)
	}
	data, closer, err := v.snap.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %x: %w", k[:1], err)
	}
	err = decodeValue(data, out)
	return err == nil, errors.Join(err, closer.Close())
}

// scan visits keys in [lower, end) in order until fn returns false or an error.
func (v *View) scan(lower, end []byte, fn func(k, val []byte) (bool, error)) error {
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: end})
	if err != nil {
		return fmt.Errorf("scan %x: %w", lower[:1], err)
	}
	var stop error
	for ok := it.First(); ok; ok = it.Next() {
		more, err := fn(it.Key(), it.Value())
		if stop = err; err != nil || !more {
			break
		}
	}
	return errors.Join(stop, it.Error(), it.Close())
}

// scanBack visits keys in [lower, end) from the last to the first.
func (v *View) scanBack(lower, end []byte, fn func(k, val []byte) (bool, error)) error {
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: end})
	if err != nil {
		return fmt.Errorf("scan %x: %w", lower[:1], err)
	}
	var stop error
	for ok := it.Last(); ok; ok = it.Prev() {
		more, err := fn(it.Key(), it.Value())
		if stop = err; err != nil || !more {
			break
		}
	}
	return errors.Join(stop, it.Error(), it.Close())
}

// list decodes the values below prefix whose keys come after the suffix after, until fn returns false. fn's key is the
// suffix, to go on from.
func list[T any](v *View, prefix, after []byte, fn func(suffix []byte, rec *T) bool) error {
	lower := append(bytes.Clone(prefix), after...)
	if len(after) > 0 {
		lower = append(lower, 0)
	}
	return v.scan(lower, upper(prefix), func(k, val []byte) (bool, error) {
		rec := new(T)
		if err := decodeValue(val, rec); err != nil {
			return false, err
		}
		return fn(bytes.Clone(k[len(prefix):]), rec), nil
	})
}

// Site is the site's identity; nil before bootstrap.
func (v *View) Site() (*Site, error) {
	site := new(Site)
	ok, err := v.get(siteKey(), site)
	if !ok {
		return nil, err
	}
	return site, err
}

// Namespace finds a tenant; nil when there is none.
func (v *View) Namespace(id string) (*Namespace, error) {
	ns := new(Namespace)
	ok, err := v.get(key(kindNamespace).str(id), ns)
	if !ok {
		return nil, err
	}
	return ns, err
}

// Namespaces visits the tenants in order of id after a suffix.
func (v *View) Namespaces(after []byte, fn func(suffix []byte, ns *Namespace) bool) error {
	return list(v, key(kindNamespace), after, fn)
}

// Key finds whose key has this SHA-256; nil when nobody's.
func (v *View) Key(hash [32]byte) (*KeyRef, error) {
	ref := new(KeyRef)
	ok, err := v.get(key(kindKeyHash).hash(hash), ref)
	if !ok {
		return nil, err
	}
	return ref, err
}

// Agent finds an agent that was not removed; nil otherwise.
func (v *View) Agent(ns *Namespace, id string) (*Agent, error) {
	a := new(Agent)
	ok, err := v.get(nsKey(kindAgent, ns.Number).str(id), a)
	if !ok || a.RemovedAt != 0 {
		return nil, err
	}
	return a, err
}

// AgentEver finds an agent, also one that was removed; nil when there never was one.
func (v *View) AgentEver(ns *Namespace, id string) (*Agent, error) {
	a := new(Agent)
	ok, err := v.get(nsKey(kindAgent, ns.Number).str(id), a)
	if !ok {
		return nil, err
	}
	return a, err
}

// Agents visits the agents, removed ones included, in order of id.
func (v *View) Agents(ns *Namespace, after []byte, fn func(suffix []byte, a *Agent) bool) error {
	return list(v, nsKey(kindAgent, ns.Number), after, fn)
}

// Principal finds a principal; nil when there is none.
func (v *View) Principal(ns *Namespace, id string) (*Principal, error) {
	p := new(Principal)
	ok, err := v.get(nsKey(kindPrincipal, ns.Number).str(id), p)
	if !ok {
		return nil, err
	}
	return p, err
}

// Principals visits the principals in order of id.
func (v *View) Principals(ns *Namespace, after []byte, fn func(suffix []byte, p *Principal) bool) error {
	return list(v, nsKey(kindPrincipal, ns.Number), after, fn)
}

// Rater is what a juror reported on everything foreign.
func (v *View) Rater(ns *Namespace, juror string) (federation.Rater, error) {
	var r federation.Rater
	_, err := v.get(nsKey(kindRater, ns.Number).str(juror), &r)
	return r, err
}

// Trajectory finds a group by id; nil when there is none in the namespace.
func (v *View) Trajectory(ns *Namespace, id ID) (*Trajectory, error) {
	var owner uint32
	ok, err := v.get(nsKey(kindTrajOwner, ns.Number).id(id), &owner)
	if !ok {
		return nil, err
	}
	return v.TrajectoryOf(ns.Number, owner, id)
}

// TrajectoryOf finds a group whose owner is known.
func (v *View) TrajectoryOf(ns, owner uint32, id ID) (*Trajectory, error) {
	rec := new(Trajectory)
	ok, err := v.get(nsKey(kindTrajectory, ns).u32(owner).id(id), rec)
	if !ok {
		return nil, err
	}
	return rec, err
}

// GroupOf finds an agent's group by its hash; nil when there is none.
func (v *View) GroupOf(ns *Namespace, owner uint32, group [32]byte) (*Trajectory, error) {
	var id ID
	ok, err := v.get(nsKey(kindGroup, ns.Number).u32(owner).hash(group), &id)
	if !ok {
		return nil, err
	}
	return v.TrajectoryOf(ns.Number, owner, id)
}

// Attempts reads the attempts of a group from number from on.
func (v *View) Attempts(ns *Namespace, traj *Trajectory, from int) ([]Attempt, error) {
	prefix := nsKey(kindAttempt, ns.Number).u32(traj.Owner).id(traj.ID)
	var out []Attempt
	err := v.scan(append(bytes.Clone(prefix), keyBuf{}.u32(uint32(max(from, 0)))...), upper(prefix), func(_, val []byte) (bool, error) {
		var a Attempt
		if err := decodeValue(val, &a); err != nil {
			return false, err
		}
		out = append(out, a)
		return true, nil
	})
	return out, err
}

// EachTrajectory visits all groups of all namespaces.
func (v *View) EachTrajectory(fn func(ns uint32, t *Trajectory) bool) error {
	return list(v, key(kindTrajectory), nil, func(suffix []byte, t *Trajectory) bool { return fn(u32At(suffix, 0), t) })
}

// EachExperience visits all experiences of all namespaces.
func (v *View) EachExperience(fn func(ns uint32, e *Experience) bool) error {
	return list(v, key(kindExperience), nil, func(suffix []byte, e *Experience) bool { return fn(u32At(suffix, 0), e) })
}

// Experience finds an experience by id in a namespace; nil when there is none.
func (v *View) Experience(ns *Namespace, id ID) (*Experience, error) {
	var owner uint32
	ok, err := v.get(nsKey(kindOwner, ns.Number).id(id), &owner)
	if !ok {
		return nil, err
	}
	return v.ExperienceOf(ns.Number, owner, id)
}

// ExperienceOf finds an experience whose owner is known.
func (v *View) ExperienceOf(ns, owner uint32, id ID) (*Experience, error) {
	e := new(Experience)
	ok, err := v.get(nsKey(kindExperience, ns).u32(owner).id(id), e)
	if !ok {
		return nil, err
	}
	return e, err
}

// VersionOf finds an older version.
func (v *View) VersionOf(ns, owner uint32, id ID, version int) (*Experience, error) {
	e := new(Experience)
	ok, err := v.get(nsKey(kindVersion, ns).u32(owner).id(id).u32(uint32(version)), e)
	if !ok {
		return nil, err
	}
	return e, err
}

// VectorsOf reads the embeddings of an experience.
func (v *View) VectorsOf(ns, owner uint32, id ID) (Vectors, error) {
	var out Vectors
	_, err := v.get(nsKey(kindVectors, ns).u32(owner).id(id), &out)
	return out, err
}

// Pool visits the experiences of one owner in order of id after a suffix.
func (v *View) Pool(ns *Namespace, owner uint32, after []byte, fn func(suffix []byte, e *Experience) bool) error {
	return list(v, nsKey(kindExperience, ns.Number).u32(owner), after, fn)
}

// All visits the experiences of a namespace, by owner, then id.
func (v *View) All(ns *Namespace, after []byte, fn func(suffix []byte, e *Experience) bool) error {
	return list(v, nsKey(kindExperience, ns.Number), after, fn)
}

// ByHash finds the live experience of a pool with exactly this text; nil when there is none. Shared copies that agents of
// one owner judge are not found.
func (v *View) ByHash(ns *Namespace, owner uint32, hash [32]byte) (*Experience, error) {
	var id ID
	ok, err := v.get(nsKey(kindHash, ns.Number).u32(owner).hash(hash), &id)
	if !ok {
		return nil, err
	}
	return v.ExperienceOf(ns.Number, owner, id)
}

// Children lists what was derived from an experience.
func (v *View) Children(ns *Namespace, parent ID) ([]ID, error) {
	prefix := nsKey(kindChild, ns.Number).id(parent)
	var out []ID
	err := v.scan(prefix, upper(prefix), func(k, _ []byte) (bool, error) {
		out = append(out, lastID(k))
		return len(out) < 1000, nil
	})
	return out, err
}

// Erasure finds the proof of an erasure; nil when there is none.
func (v *View) Erasure(ns *Namespace, id ID) (*Erasure, error) {
	e := new(Erasure)
	ok, err := v.get(nsKey(kindErasure, ns.Number).id(id), e)
	if !ok {
		return nil, err
	}
	return e, err
}

// Job finds a job; nil when it ended or never was.
func (v *View) Job(id ID) (*Job, error) {
	j := new(Job)
	ok, err := v.get(key(kindJob).id(id), j)
	if !ok {
		return nil, err
	}
	return j, err
}

// Jobs visits the jobs that are not done, oldest first, after a suffix.
func (v *View) Jobs(after []byte, fn func(suffix []byte, j *Job) bool) error {
	return list(v, key(kindJob), after, fn)
}

// NextDue is when the next job is due, Unix ms; false when none is queued.
func (v *View) NextDue() (int64, bool, error) {
	var at int64
	found := false
	err := v.scan(key(kindDue), upper(key(kindDue)), func(k, _ []byte) (bool, error) {
		at, found = int64(bigEndian(k[1:])), true
		return false, nil
	})
	return at, found, err
}

// Events visits a namespace's feed strictly after (index, sub), up to the view's index.
func (v *View) Events(ns *Namespace, index uint64, sub uint32, fn func(index uint64, sub uint32, e *Event) bool) error {
	after := keyBuf{}.u64(index).u32(sub)
	return list(v, nsKey(kindFeed, ns.Number), after, func(suffix []byte, e *Event) bool {
		at := bigEndian(suffix)
		return at <= v.index && fn(at, u32At(suffix, 8), e)
	})
}

// OldestEvent is the log index from which on the feed is complete.
func (v *View) OldestEvent(ns *Namespace) (uint64, error) {
	n, err := v.Counter(ns, "feed/oldest")
	return uint64(n), err
}

// Changes visits the change log after an index, up to the view's index.
func (v *View) Changes(index uint64, fn func(index uint64, c *Change) bool) error {
	after := keyBuf{}.u64(index).u32(1<<32 - 1)
	return list(v, key(kindChange), after, func(suffix []byte, c *Change) bool {
		at := bigEndian(suffix)
		return at <= v.index && fn(at, c)
	})
}

// OldestChange is the log index from which on the change log is complete: an index that reflects an older one than the
// entry before it must be built anew. It is 0 while nothing was trimmed.
func (v *View) OldestChange() (uint64, error) {
	n, err := v.number(changesFrom())
	return uint64(n), err
}

// Replay finds the answer that an idempotency key got: the result body with its index, or a conflict when the request was
// another one. found is false when the key is free.
func (v *View) Replay(ns *Namespace, agent, k string, hash [32]byte) (body []byte, index uint64, found, conflict bool, err error) {
	var r idemResult
	ok, err := v.get(idemKey(ns.Number, agent, k), &r)
	if err != nil || !ok || v.now-r.At >= idempotencyTTL {
		return nil, 0, false, false, err
	}
	return r.Body, r.Index, true, r.Hash != hash, nil
}
