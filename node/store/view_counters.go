package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"cairn/federation"
)

// Tallies are what the two expectations read: the task type's, the agent's in it, the agent's over all types, and the
// namespace's.
type Tallies struct {
	TaskType, Agent, AgentAll, All federation.Tally
}

// TalliesOf reads an agent's tallies for a task type.
func (v *View) TalliesOf(ns *Namespace, agent uint32, taskType string) (Tallies, error) {
	var out Tallies
	var own AgentTally
	_, e1 := v.get(nsKey(kindTally, ns.Number).str(taskType), &out.TaskType)
	_, e2 := v.get(nsKey(kindAgentTally, ns.Number).u32(agent).str(taskType), &own)
	_, e3 := v.get(nsKey(kindAgentTotals, ns.Number).u32(agent), &out.AgentAll)
	n, e4 := v.Counter(ns, "outcomes")
	sum, e5 := v.Counter(ns, "outcomes/reward")
	out.Agent, out.All = own.Tally, federation.Tally{Sum: sum, N: n}
	return out, errors.Join(e1, e2, e3, e4, e5)
}

// TaskTypes visits the outcome tallies of a namespace by task type.
func (v *View) TaskTypes(ns *Namespace, fn func(taskType string, t federation.Tally) bool) error {
	return list(v, nsKey(kindTally, ns.Number), nil, func(suffix []byte, t *federation.Tally) bool { return fn(string(suffix), *t) })
}

// Counter reads one counter of a namespace.
func (v *View) Counter(ns *Namespace, name string) (int64, error) {
	return v.number(nsKey(kindCounter, ns.Number).str(name))
}

func (v *View) number(k []byte) (int64, error) {
	data, closer, err := v.snap.Get(k)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if len(data) != 9 {
		return 0, errors.Join(fmt.Errorf("counter of %d bytes", len(data)), closer.Close())
	}
	n := int64(bigEndian(data[1:]))
	return n, closer.Close()
}

// Counters reads all counters of a namespace.
func (v *View) Counters(ns *Namespace) (map[string]int64, error) {
	out := map[string]int64{}
	prefix := nsKey(kindCounter, ns.Number)
	err := v.scan(prefix, upper(prefix), func(k, val []byte) (bool, error) {
		if len(val) != 9 {
			return false, fmt.Errorf("counter of %d bytes", len(val))
		}
		out[string(k[len(prefix):])] = int64(bigEndian(val[1:]))
		return true, nil
	})
	return out, err
}
