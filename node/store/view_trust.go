package store

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"cairn/federation"
)

// Jury reads the jury of a shared item; nil when it has none.
func (v *View) Jury(ns *Namespace, id ID) (*Jury, error) {
	j := new(Jury)
	ok, err := v.get(nsKey(kindJury, ns.Number).id(id), j)
	if !ok {
		return nil, err
	}
	return j, err
}

// Accumulator reads a juror's evidence about one version of an item.
func (v *View) Accumulator(ns *Namespace, id ID, version int, juror string) (federation.Accumulator, error) {
	var a federation.Accumulator
	_, err := v.get(nsKey(kindAcc, ns.Number).id(id).u32(uint32(version)).str(juror), &a)
	return a, err
}

// Jurors lists the evidence of the seats that were not struck.
func (v *View) Jurors(ns *Namespace, e *Experience, jury *Jury) (out []federation.Juror, names []string, err error) {
	for _, seat := range jury.Seats {
		if seat.Struck {
			continue
		}
		acc, aerr := v.Accumulator(ns, e.ID, e.Version, seat.Juror)
		rater, rerr := v.Rater(ns, seat.Juror)
		err = errors.Join(err, aerr, rerr)
		out, names = append(out, federation.Juror{Acc: acc, Rater: rater}), append(names, seat.Juror)
	}
	return out, names, err
}

// EvidenceOf visits the citations of an item in order of their ids.
func (v *View) EvidenceOf(ns *Namespace, id ID, after []byte, fn func(suffix []byte, e *Evidence) bool) error {
	return list(v, nsKey(kindEvidence, ns.Number).id(id), after, fn)
}

// Shown reports whether a candidate was shown to a juror in a task group.
func (v *View) Shown(ns *Namespace, candidate ID, group [32]byte, juror string) (bool, error) {
	_, closer, err := v.snap.Get(nsKey(kindShown, ns.Number).id(candidate).hash(group).str(juror))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

// Receipt reads a recall's note; nil when it is not (yet) stored.
func (v *View) Receipt(ns *Namespace, agent uint32, recall ID) (*Receipt, error) {
	r := new(Receipt)
	ok, err := v.get(nsKey(kindReceipt, ns.Number).u32(agent).id(recall), r)
	if !ok {
		return nil, err
	}
	return r, err
}

// ReceiptsOf visits an agent's receipts in order of time after a suffix.
func (v *View) ReceiptsOf(ns *Namespace, agent uint32, after []byte, fn func(suffix []byte, r *Receipt) bool) error {
	return list(v, nsKey(kindReceipt, ns.Number).u32(agent), after, fn)
}

// Receipts visits the receipts of a namespace by agent, then time, after a suffix.
func (v *View) Receipts(ns *Namespace, after []byte, fn func(suffix []byte, r *Receipt) bool) error {
	return list(v, nsKey(kindReceipt, ns.Number), after, fn)
}

// GivenOf visits who was given an experience: recall id and agent number, in order of time.
func (v *View) GivenOf(ns *Namespace, id ID, after []byte, fn func(suffix []byte, recall ID, agent uint32) bool) error {
	prefix := nsKey(kindGiven, ns.Number).id(id)
	lower := append(bytes.Clone(prefix), after...)
	if len(after) > 0 {
		lower = append(lower, 0)
	}
	return v.scan(lower, upper(prefix), func(k, _ []byte) (bool, error) {
		suffix := bytes.Clone(k[len(prefix):])
		var recall ID
		copy(recall[:], suffix)
		return fn(suffix, recall, u32At(suffix, len(recall))), nil
	})
}

// WithdrawnFrom visits what was revoked after an agent was given it.
func (v *View) WithdrawnFrom(ns *Namespace, agent uint32, fn func(id ID, w *Withdrawn) bool) error {
	return list(v, nsKey(kindWithdrawn, ns.Number).u32(agent), nil, func(suffix []byte, w *Withdrawn) bool {
		return fn(lastID(suffix), w)
	})
}

// WasGiven reports whether an agent was given an experience, among the first 10,000 receipts that name it.
func (v *View) WasGiven(ns *Namespace, agent uint32, id ID) (bool, error) {
	found, looked := false, 0
	err := v.GivenOf(ns, id, nil, func(_ []byte, _ ID, a uint32) bool {
		looked++
		found = a == agent
		return !found && looked < 10_000
	})
	return found, err
}

// WasWithdrawn reports whether an agent was given an experience that was revoked since.
func (v *View) WasWithdrawn(ns *Namespace, agent uint32, id ID) (bool, error) {
	return v.get(withdrawnKey(ns.Number, agent, id), new(Withdrawn))
}

// Samples visits the auditors' verdicts.
func (v *View) Samples(ns *Namespace, fn func(s *Sample) bool) error {
	return list(v, nsKey(kindSample, ns.Number), nil, func(_ []byte, s *Sample) bool { return fn(s) })
}

// DecisionsOf visits the decisions of a namespace, newest first, before a suffix.
func (v *View) DecisionsOf(ns *Namespace, before []byte, fn func(suffix []byte, d *Decision) bool) error {
	prefix := nsKey(kindDecision, ns.Number)
	end := upper(prefix)
	if len(before) > 0 {
		end = append(bytes.Clone(prefix), before...)
	}
	return v.scanBack(prefix, end, func(k, val []byte) (bool, error) {
		d := new(Decision)
		if err := decodeValue(val, d); err != nil {
			return false, err
		}
		return fn(bytes.Clone(k[len(prefix):]), d), nil
	})
}

// Decision finds a decision; nil when there is none.
func (v *View) Decision(ns *Namespace, id ID) (*Decision, error) {
	d := new(Decision)
	ok, err := v.get(nsKey(kindDecision, ns.Number).id(id), d)
	if !ok {
		return nil, err
	}
	return d, err
}

// Eligible is who may sit on an item's jury now; see the rule in apply.
func (v *View) Eligible(ns *Namespace, e *Experience) (unit string, jurors []string, err error) {
	d := &viewDirectory{v: v, ns: ns}
	unit, jurors = eligible(d, ns, v.now, e)
	return unit, jurors, d.err
}

// FreeJurors are eligible and never sat on the jury.
func (v *View) FreeJurors(ns *Namespace, e *Experience, jury *Jury) ([]string, error) {
	unit, all, err := v.Eligible(ns, e)
	return withoutSeated(unit, all, jury), err
}

type viewDirectory struct {
	v   *View
	ns  *Namespace
	err error
}

func (d *viewDirectory) eachPrincipal(fn func(Principal)) {
	d.err = errors.Join(d.err, d.v.Principals(d.ns, nil, func(_ []byte, p *Principal) bool { fn(*p); return true }))
}

func (d *viewDirectory) eachAgent(fn func(Agent)) {
	d.err = errors.Join(d.err, d.v.Agents(d.ns, nil, func(_ []byte, a *Agent) bool { fn(*a); return true }))
}

// Opinions lists what was said about the items that are tried or promoted, and how often each was given, for
// [federation.Signs]. Items that the agents of one principal judge among themselves are left out.
func (v *View) Opinions(ns *Namespace) ([]federation.Opinion, error) {
	var out []federation.Opinion
	var failed error
	err := v.Pool(ns, SharedOwner, nil, func(_ []byte, e *Experience) bool {
		if !e.onTrial() {
			return true
		}
		o := federation.Opinion{Item: e.ID.String(), Author: JurorOf("", e.Principal, ""), Recalled: e.Recalled}
		failed = v.EvidenceOf(ns, e.ID, nil, func(_ []byte, ev *Evidence) bool {
			if ev.Version == e.Version {
				o.Reports = append(o.Reports, federation.Report{Juror: ev.Juror, Mass: ev.Mass, Lift: ev.Lift, At: ev.At})
			}
			return true
		})
		out = append(out, o)
		return failed == nil
	})
	return out, errors.Join(err, failed)
}

// onTrial reports whether principals judge a shared item that is tried or promoted.
func (e *Experience) onTrial() bool {
	return e.Unit != UnitAgent && (e.Status == federation.StatusCandidate || e.Status == federation.StatusPromoted)
}
