package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"

	"cairn/index"
	"cairn/index/embed"
	"cairn/node/gate"
	"cairn/node/recall"
	"cairn/node/store"
)

// poolKey names an index pool: an agent's own, or the namespace's shared one (shelf and meta-pool).
type poolKey struct{ ns, owner uint32 }

// entry is what the index knows of an experience. The pointer is replaced when counters change, so that a filter reads
// what stands without the text being indexed again.
type entry struct {
	state   atomic.Pointer[entryState]
	pool    poolKey
	version int
	// embedded counts the times that the vectors of this version were replaced, as in store.Experience.
	embedded int
	vectors  bool
	saved    struct { // of one that was read from a file
		id   store.ID
		hash [32]byte
	}
}

type entryState struct {
	exp  *store.Experience
	jury *store.Jury
}

// follower keeps the search index and the reward predictor behind the replicated state, and knows how far it is.
type follower struct {
	store     *store.Store
	predictor *gate.Predictor
	router    recall.Router
	hot       recall.Hot[poolKey]
	log       *slog.Logger
	folder    string // where pools keep the values of many vectors, outside of memory; empty: in memory

	mu         sync.RWMutex // guards all below; held for map operations only
	pools      map[poolKey]*index.Pool
	entries    map[store.ID]*entry
	at         uint64
	rebuilding bool // at is not what the pools hold
	generation int
	moved      chan struct{} // closed and replaced when at moves
}

func newFollower(s *store.Store, p *gate.Predictor, folder string, log *slog.Logger) *follower {
	return &follower{
		store: s, predictor: p, log: log, folder: folder, pools: map[poolKey]*index.Pool{}, entries: map[store.ID]*entry{},
		moved: make(chan struct{}),
	}
}

// rebuild makes the index anew from the whole state. files, if any, spare the work for what they hold as it stands; they
// are for the start only, since a pool that is read is not complete at once.
func (f *follower) rebuild(files *indexFiles) error {
	generation := f.store.Generation()
	v, err := f.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	f.mu.Lock()
	old := f.pools
	f.pools, f.entries, f.generation, f.rebuilding = map[poolKey]*index.Pool{}, map[store.ID]*entry{}, generation, true
	f.mu.Unlock()
	f.router.Clear()
	f.hot.Clear()
	closePools(old)
	if files != nil {
		if err := files.load(f, v); err != nil {
			return err
		}
	}
	var failed error
	err = v.EachExperience(func(ns uint32, e *store.Experience) bool {
		failed = f.look(v, store.Change{Namespace: ns, Owner: e.Owner, ID: e.ID}, e)
		return failed == nil
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("rebuild index: %w", err)
	}
	f.dropUnconfirmed()
	err = v.EachTrajectory(func(ns uint32, t *store.Trajectory) bool {
		f.learn(ns, t)
		return true
	})
	if err != nil {
		return fmt.Errorf("rebuild predictor: %w", err)
	}
	f.move(v.Index())
	return nil
}

// close ends what works behind the pools. They can still be read.
func (f *follower) close() {
	f.mu.RLock()
	pools := maps.Clone(f.pools)
	f.mu.RUnlock()
	closePools(pools)
}

func closePools(pools map[poolKey]*index.Pool) {
	for _, p := range pools {
		p.Close()
	}
}

func (f *follower) follow(ctx context.Context) {
	for {
		changed := f.store.Changed()
		if err := f.catchUp(); err != nil && ctx.Err() == nil {
			f.log.Error("follow the state", "error", err)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// catchUp reads the change log from where the index stands. After an install, or when the log no longer reaches back, the
// index is rebuilt.
func (f *follower) catchUp() error {
	f.mu.RLock()
	at, generation := f.at, f.generation
	f.mu.RUnlock()
	if generation != f.store.Generation() {
		return f.rebuild(nil)
	}
	v, err := f.store.View()
	if err != nil {
		return nil // closing
	}
	defer v.Close()
	if v.Index() <= at {
		return nil
	}
	oldest, err := v.OldestChange()
	if err != nil {
		return err
	}
	if oldest > at+1 {
		return f.rebuild(nil) // the log of changes was trimmed beyond where the index stands
	}
	seen := map[store.ID]bool{}
	var list []store.Change
	err = v.Changes(at, func(_ uint64, c *store.Change) bool {
		if !seen[c.ID] {
			seen[c.ID] = true
			list = append(list, *c)
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		if err := f.apply(v, c); err != nil {
			return err
		}
	}
	f.move(v.Index())
	return nil
}

func (f *follower) apply(v *store.View, c store.Change) error {
	if c.Kind == store.ChangeTrajectory {
		t, err := v.TrajectoryOf(c.Namespace, c.Owner, c.ID)
		switch {
		case err != nil:
			return err
		case t == nil:
			f.router.Remove(predictorAgent(c.Namespace, c.Owner), c.ID.String())
		default:
			f.learn(c.Namespace, t)
		}
		return nil
	}
	e, err := v.ExperienceOf(c.Namespace, c.Owner, c.ID)
	if err != nil {
		return err
	}
	return f.look(v, c, e)
}

// look brings one experience up to date; e is nil when it was erased.
func (f *follower) look(v *store.View, c store.Change, e *store.Experience) error {
	f.mu.RLock()
	known := f.entries[c.ID]
	f.mu.RUnlock()
	if e == nil || !e.Live() {
		f.forget(c.ID, known)
		return nil
	}
	state := &entryState{exp: e}
	if e.Shared() {
		jury, err := v.Jury(&store.Namespace{Number: c.Namespace}, e.ID)
		if err != nil {
			return err
		}
		state.jury = jury
	}
	if known != nil && known.state.Load() == nil && known.saved.hash != e.Hash {
		known = nil // the same number, another text: the state was set back and went on differently
	}
	if known != nil && known.version == e.Version && known.embedded == e.Embedded && known.vectors {
		f.update(known, state)
		return nil
	}
	vectors, err := v.VectorsOf(c.Namespace, c.Owner, c.ID)
	if err != nil {
		return err
	}
	if vectors.Version != e.Version {
		vectors = store.Vectors{}
	}
	if known != nil && known.version == e.Version && len(vectors.Vectors) == 0 {
		f.update(known, state)
		return nil
	}
	return f.put(poolKey{c.Namespace, c.Owner}, state, vectors)
}

// update replaces what is known of an experience whose text and vectors stand.
func (f *follower) update(known *entry, state *entryState) {
	known.state.Store(state)
	f.note(known, state.exp)
}

// note tells how often an experience was recalled. The entry is the token: another version has another.
func (f *follower) note(ent *entry, e *store.Experience) {
	f.hot.Note(ent.pool, f.pool(ent.pool).Len(), e.ID.String(), e.Recalled, ent)
}

func (f *follower) put(key poolKey, state *entryState, vectors store.Vectors) error {
	e := state.exp
	ent := &entry{pool: key, version: e.Version, embedded: e.Embedded, vectors: len(vectors.Vectors) > 0}
	ent.state.Store(state)
	doc := index.Doc{
		ID: e.ID.String(), Meta: ent,
		Fields: []index.Field{{Name: "scenario", Text: e.Scenario, Weight: 1}, {Name: "content", Text: e.Content, Weight: 1}},
	}
	for _, k := range e.Keywords {
		doc.Fields = append(doc.Fields, index.Field{Name: "keywords", Text: k, Weight: 1})
	}
	for _, vec := range vectors.Vectors {
		doc.Vectors = append(doc.Vectors, unpack(vec))
	}
	if err := f.pool(key).Put(doc); err != nil {
		return fmt.Errorf("index experience %s: %w", e.ID, err)
	}
	f.mu.Lock()
	f.entries[e.ID] = ent
	f.mu.Unlock()
	f.note(ent, e)
	return nil
}

func (f *follower) forget(id store.ID, known *entry) {
	if known == nil {
		return
	}
	pool := f.pool(known.pool)
	pool.Delete(id.String())
	f.hot.Forget(known.pool, pool.Len(), id.String())
	f.mu.Lock()
	delete(f.entries, id)
	f.mu.Unlock()
}

func (f *follower) pool(key poolKey) *index.Pool {
	f.mu.RLock()
	p := f.pools[key]
	f.mu.RUnlock()
	if p != nil {
		return p
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p = f.pools[key]; p == nil {
		p = index.NewPoolIn(f.folder)
		f.pools[key] = p
	}
	return p
}

// learn feeds a group's rewards to the predictor and its task to the router.
func (f *follower) learn(ns uint32, t *store.Trajectory) {
	vector := unpack(t.TaskVector)
	if vector.IsZero() {
		return
	}
	f.router.Add(predictorAgent(ns, t.Owner), t.ID.String(), t.TaskType, vector)
	for _, r := range t.Rewards {
		f.predictor.Add(gate.Outcome{
			ID: fmt.Sprintf("%s/%d", t.ID, r.Attempt), Agent: predictorAgent(ns, t.Owner), TaskType: t.TaskType,
			Group: groupName(t.Group), Vector: vector, Reward: score(r.Reward), At: r.At,
		})
	}
}

func (f *follower) move(at uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.rebuilding = at, false
	close(f.moved)
	f.moved = make(chan struct{})
}

// watermark is the log index that the search index reflects.
func (f *follower) watermark() uint64 {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.at
}

// reflects reports whether all up to a log index is in the index.
func (f *follower) reflects(index uint64) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return !f.rebuilding && f.at >= index
}

// wait blocks until the index reflects a log index.
func (f *follower) wait(ctx context.Context, target uint64) error {
	for {
		f.mu.RLock()
		at, moved := f.at, f.moved
		f.mu.RUnlock()
		if at >= target {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// neighbour is an experience near a vector.
type neighbour struct {
	exp    *store.Experience
	Cosine float64
}

func stateOf(meta any) *entryState { return meta.(*entry).state.Load() }

// nearest lists the k experiences of a pool whose vector at position (0 scenario, 1 content) is nearest and that keep
// accepts.
func (f *follower) nearest(key poolKey, v embed.Vector, position, k int, keep func(*store.Experience) bool) []neighbour {
	if v.IsZero() {
		return nil
	}
	hits, err := f.pool(key).NearestAt(v, position, k, func(_ string, meta any) bool { return keep(stateOf(meta).exp) })
	if err != nil {
		f.log.Error("search nearest", "error", err)
		return nil
	}
	out := make([]neighbour, 0, len(hits))
	for _, h := range hits {
		out = append(out, neighbour{stateOf(h.Meta).exp, h.Cosine})
	}
	return out
}

// cosineAt compares a vector with the one an experience has at the same position; -1 when they cannot be compared.
func (f *follower) cosineAt(key poolKey, id store.ID, position int, v embed.Vector) float64 {
	doc, ok := f.pool(key).Get(id.String())
	if !ok || position >= len(doc.Vectors) {
		return -1
	}
	c, ok := index.Cosine(doc.Vectors[position], v)
	if !ok {
		return -1
	}
	return c
}
