package store

import (
	"errors"
	"fmt"
)

const (
	clientSlots    = 64
	maxIdempotent  = 1_000_000
	idempotencyTTL = 24 * hour

	hour = int64(3_600_000)
	day  = 24 * hour
)

// handler applies one kind of command. A Reject means that nothing happened.
type handler func(t *txn, c *Command) (any, *Reject, error)

// handle adapts a typed apply function.
func handle[T any](apply func(t *txn, body *T) (any, *Reject)) handler {
	return func(t *txn, c *Command) (any, *Reject, error) {
		body := new(T)
		if err := decodeCommand(c.Body, body); err != nil {
			return nil, nil, fmt.Errorf("%w: body of kind %d: %w", ErrUnknownCommand, c.Kind, err)
		}
		out, rej := apply(t, body)
		return out, rej, nil
	}
}

var handlers = map[Kind]handler{
	KindBootstrap:         handle(applyBootstrap),
	KindCreateNamespace:   handle(applyCreateNamespace),
	KindSettings:          handle(applySettings),
	KindCreatePrincipal:   handle(applyCreatePrincipal),
	KindUpdatePrincipal:   handle(applyUpdatePrincipal),
	KindCreateAgent:       handle(applyCreateAgent),
	KindUpdateAgent:       handle(applyUpdateAgent),
	KindRemoveAgent:       handle(applyRemoveAgent),
	KindCreateKey:         handle(applyCreateKey),
	KindRemoveKey:         handle(applyRemoveKey),
	KindBumpEpoch:         handle(applyBumpEpoch),
	KindFill:              handle(applyFill),
	KindRecordTrajectory:  handle(applyRecordTrajectory),
	KindDistilled:         handle(applyDistilled),
	KindAddExperience:     handle(applyAddExperience),
	KindPatchExperience:   handle(applyPatchExperience),
	KindErase:             handle(applyErase),
	KindPurge:             handle(applyPurge),
	KindJudged:            handle(applyJudged),
	KindRestore:           handle(applyRestore),
	KindSetVectors:        handle(applySetVectors),
	KindReembed:           handle(applyReembed),
	KindReceipts:          handle(applyReceipts),
	KindOutcome:           handle(applyOutcome),
	KindReflect:           handle(applyReflect),
	KindRetried:           handle(applyRetried),
	KindRequestNomination: handle(applyRequestNomination),
	KindNominate:          handle(applyNominate),
	KindPromote:           handle(applyPromote),
	KindReplaceJuror:      handle(applyReplaceJuror),
	KindCurate:            handle(applyCurate),
	KindFollowUp:          handle(applyFollowUp),
	KindDecidePromotion:   handle(applyDecidePromotion),
	KindSample:            handle(applySample),
	KindSharedStrategy:    handle(applySharedStrategy),
	KindLeaseJobs:         handle(applyLeaseJobs),
	KindFinishJob:         handle(applyFinishJob),
	KindRetryJob:          handle(applyRetryJob),
	KindTick:              handle(applyTick),
	KindRenewJobs:         handle(applyRenewJobs),
	KindSpend:             handle(applySpend),
	KindAlerts:            handle(applyAlerts),
	KindUndoMerge:         handle(applyUndoMerge),
	KindCompacted:         handle(applyCompacted),
}

// siteWide are the commands that belong to no namespace.
var siteWide = map[Kind]bool{KindBootstrap: true, KindBumpEpoch: true, KindFill: true, KindLeaseJobs: true, KindRenewJobs: true, KindTick: true}

// Apply applies commands[i] at index first+i with the leader's stamp times[i] (Unix ms) as one Pebble batch. A nil command
// moves only the position. The results are encoded Result values, nil for nil commands. An error halts the store for good:
// the log holds something this version cannot apply, or the database failed.
func (s *Store) Apply(first, term uint64, times []int64, commands [][]byte) ([][]byte, error) {
	if err := s.Halted(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHalted, err)
	}
	gen, err := s.acquire()
	if err != nil {
		return nil, err
	}
	defer gen.release()
	results, err := s.applyBatch(gen, first, term, times, commands)
	if err != nil {
		s.mu.Lock()
		s.halt = err
		s.mu.Unlock()
		s.log.Error("apply halted", "index", first, "error", err)
		return nil, err
	}
	return results, nil
}

func (s *Store) applyBatch(gen *generation, first, term uint64, times []int64, commands [][]byte) ([][]byte, error) {
	s.mu.RLock()
	pos := s.pos
	s.mu.RUnlock()
	results := make([][]byte, len(commands))
	if len(times) != len(commands) {
		return nil, fmt.Errorf("apply from %d: %d commands with %d times", first, len(commands), len(times))
	}
	if len(commands) == 0 || first+uint64(len(commands))-1 <= pos.Index {
		return results, nil // all applied before a restart
	}
	batch := newStage(gen.db)
	for i, data := range commands {
		index := first + uint64(i)
		if index <= pos.Index {
			continue // applied before a restart
		}
		pos.Index, pos.Term = index, term
		if data == nil {
			continue
		}
		pos.Now = max(pos.Now, times[i])
		result, hash, err := applyOne(batch, gen.hot, pos, data)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("apply entry %d: %w", index, err), batch.batch.Close())
		}
		results[i], pos.Hash = result, hash
	}
	if err := batch.commit(pos); err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.pos = pos
	close(s.wake)
	s.wake = make(chan struct{})
	s.mu.Unlock()
	return results, nil
}

func applyOne(batch *stage, hot *hotValues, pos applied, data []byte) ([]byte, [32]byte, error) {
	var c Command
	if err := decodeCommand(data, &c); err != nil {
		return nil, pos.Hash, fmt.Errorf("%w: %w", ErrUnknownCommand, err)
	}
	h, known := handlers[c.Kind]
	if c.Version == 0 || c.Version > CommandVersion || !known {
		return nil, pos.Hash, fmt.Errorf("%w: kind %d version %d; this version applies up to version %d: upgrade this node",
			ErrUnknownCommand, c.Kind, c.Version, CommandVersion)
	}
	t := &txn{
		base: batch, hot: hot, writes: batch.writes, byKey: batch.written, events: map[uint32]uint32{}, changed: map[Change]bool{},
		now: pos.Now, index: pos.Index, command: &c,
	}
	result, err := t.run(h)
	if err != nil {
		return nil, pos.Hash, err
	}
	encoded, err := marshal(result)
	if err != nil {
		return nil, pos.Hash, fmt.Errorf("encode result: %w", err)
	}
	if result.Reject != nil {
		clear(t.writes)
		clear(t.byKey)
		t.writes = t.writes[:0]
	}
	if !result.Replayed {
		t.rememberClient(encoded)
	}
	hash := t.commit(pos.Hash)
	batch.keep(t.writes, t.byKey)
	return encoded, hash, t.err
}

// run answers a repeat with the first answer, else runs the handler.
func (t *txn) run(h handler) (Result, error) {
	if r, done := t.replayClient(); done || t.err != nil {
		return r, t.err
	}
	if !siteWide[t.command.Kind] {
		if rej := t.openNamespace(t.command.Namespace); rej != nil {
			return Result{Reject: rej, Index: t.index}, t.err
		}
		if r, done := t.replayKey(); done || t.err != nil {
			return r, t.err
		}
		if rej := t.suspended(); rej != nil {
			return Result{Reject: rej, Index: t.index}, t.err
		}
	}
	body, rej, err := h(t, t.command)
	if err != nil || t.err != nil {
		return Result{}, errors.Join(err, t.err)
	}
	result := Result{Reject: rej, Index: t.index}
	if rej != nil {
		return result, nil
	}
	if result.Body, err = marshal(body); err != nil {
		return Result{}, fmt.Errorf("encode result body: %w", err)
	}
	if rej := t.rememberKey(result.Body); rej != nil {
		return Result{Reject: rej, Index: t.index}, nil
	}
	if t.ns != nil && t.nsDirty {
		t.put(key(kindNamespace).str(t.ns.ID), t.ns)
	}
	t.flushSeries()
	return result, t.err
}

func (t *txn) openNamespace(id string) *Reject {
	var ns Namespace
	if !t.get(key(kindNamespace).str(id), &ns) {
		return reject("not_found", "namespace not found")
	}
	t.ns = &ns
	return nil
}

func (t *txn) clientKey() keyBuf {
	return key(kindClient).word(t.command.Client).u32(uint32(t.command.Seq % clientSlots))
}

func (t *txn) replayClient() (Result, bool) {
	if t.command.Client == "" {
		return Result{}, false
	}
	var last clientResult
	if !t.get(t.clientKey(), &last) || last.Seq < t.command.Seq {
		return Result{}, false
	}
	if last.Seq > t.command.Seq {
		return Result{Reject: reject("conflict", "sequence is older than what is kept"), Index: t.index, Replayed: true}, true
	}
	r, err := DecodeResult(last.Result)
	if err != nil {
		t.fail(err)
	}
	r.Replayed = true
	return r, true
}

func (t *txn) rememberClient(result []byte) {
	if t.command.Client != "" {
		t.put(t.clientKey(), clientResult{t.command.Seq, result, t.now})
	}
}

func idemKey(ns uint32, agent, k string) keyBuf { return nsKey(kindIdem, ns).word(agent).str(k) }

func (t *txn) replayKey() (Result, bool) {
	id := t.command.Idem
	if id == nil {
		return Result{}, false
	}
	var first idemResult
	if !t.get(idemKey(t.ns.Number, t.command.Actor, id.Key), &first) || t.now-first.At >= idempotencyTTL {
		return Result{}, false
	}
	if first.Hash != id.Hash || first.KindOf != t.command.Kind {
		return Result{Reject: reject("conflict", "the idempotency key was used with another request"), Index: t.index}, true
	}
	return Result{Replayed: true, Index: first.Index, Body: first.Body}, true
}

func (t *txn) rememberKey(body []byte) *Reject {
	id := t.command.Idem
	if id == nil || t.ns == nil {
		return nil
	}
	k := idemKey(t.ns.Number, t.command.Actor, id.Key)
	var old idemResult
	if t.get(k, &old) {
		t.del(t.idemTimeKey(old.At, id.Key))
	} else {
		if t.ns.Idempotent >= maxIdempotent {
			return reject("overloaded", "1,000,000 idempotency keys are kept in this namespace; they expire after 24 h")
		}
		t.ns.Idempotent++
		t.nsDirty = true
	}
	t.put(k, idemResult{id.Hash, t.index, body, t.now, t.command.Kind})
	t.mark(t.idemTimeKey(t.now, id.Key))
	return nil
}

func (t *txn) idemTimeKey(at int64, k string) keyBuf {
	return key(kindIdemTime).time(at).word(t.ns.ID).word(t.command.Actor).str(k)
}
