package store

import (
	"strconv"
	"strings"
)

// Bounds of Alerts.
const (
	MaxAlertChanges  = 64  // of one command
	MaxAlertMembers  = 20  // and experiences that one alert names
	maxAlertsStand   = 500 // of one namespace
	maxAlertNameSize = 256 // bytes
)

// Alerts says which signs of ill health began and ended. It was made from the state at entry Seen and is refused with
// precondition when alerts changed since: two nodes that both take themselves for the leader raise nothing twice. What is
// raised or cleared already is left alone.
type Alerts struct {
	Raise []RaisedAlert `cbor:"1,keyasint,omitempty"` // with Clear at most MaxAlertChanges
	Clear []string      `cbor:"2,keyasint,omitempty"` // names
	Seen  uint64        `cbor:"3,keyasint"`
}

// RaisedAlert is a sign with what it is about. The feed keeps ids and numbers of it, never its words.
type RaisedAlert struct {
	Name        string   `cbor:"1,keyasint"` // the same for the same sign about the same thing
	Kind        string   `cbor:"2,keyasint"`
	Severity    string   `cbor:"3,keyasint"`
	Value       int64    `cbor:"4,keyasint"` // millionths
	Limit       int64    `cbor:"5,keyasint"` // millionths
	Members     []string `cbor:"6,keyasint,omitempty"`
	Experiences []ID     `cbor:"7,keyasint,omitempty"`
}

// StandingAlert is an alert that was raised and not cleared.
type StandingAlert struct {
	Kind     string `cbor:"1,keyasint"`
	Severity string `cbor:"2,keyasint"`
	At       int64  `cbor:"3,keyasint"` // raised, Unix ms
}

// AlertsChanged counts what a command of Alerts did.
type AlertsChanged struct {
	Raised  int `cbor:"1,keyasint"`
	Cleared int `cbor:"2,keyasint"`
}

func (t *txn) alertKey(name string) keyBuf { return nsKey(kindAlert, t.ns.Number).str(name) }

func applyAlerts(t *txn, b *Alerts) (any, *Reject) {
	if rej := b.check(); rej != nil {
		return nil, rej
	}
	changed := nsKey(kindCounter, t.ns.Number).str("alerts/changed")
	if t.number(changed) > int64(b.Seen) {
		return nil, reject("precondition", "alerts changed meanwhile")
	}
	t.setNumber(changed, int64(t.index))
	var out AlertsChanged
	for _, name := range b.Clear {
		out.Cleared += t.clearAlert(name)
	}
	for i := range b.Raise {
		out.Raised += t.raiseAlert(&b.Raise[i])
	}
	return out, nil
}

func (b *Alerts) check() *Reject {
	if len(b.Raise)+len(b.Clear) > MaxAlertChanges {
		return rejectField("body", "at most 64 changes of alerts")
	}
	for i := range b.Raise {
		a := &b.Raise[i]
		if a.Name == "" || len(a.Name) > maxAlertNameSize || a.Kind == "" {
			return rejectField("body.raise", "an alert needs a kind and a name of at most 256 bytes")
		}
		if len(a.Members) > MaxAlertMembers || len(a.Experiences) > MaxAlertMembers {
			return rejectField("body.raise", "an alert names at most 20 members and 20 experiences")
		}
	}
	return nil
}

// clearAlert returns how many alerts it cleared, 0 or 1.
func (t *txn) clearAlert(name string) int {
	var a StandingAlert
	if !t.get(t.alertKey(name), &a) {
		return 0
	}
	t.del(t.alertKey(name))
	t.count("alerts", -1)
	t.event(Event{Type: "alert.cleared", Data: map[string]string{"alert": name, "kind": a.Kind, "severity": a.Severity}})
	return 1
}

// raiseAlert returns how many alerts it raised, 0 or 1.
func (t *txn) raiseAlert(a *RaisedAlert) int {
	if t.has(t.alertKey(a.Name)) || t.counter("alerts") >= maxAlertsStand {
		return 0
	}
	t.put(t.alertKey(a.Name), StandingAlert{Kind: a.Kind, Severity: a.Severity, At: t.now})
	t.count("alerts", 1)
	ids := make([]string, len(a.Experiences))
	for i, id := range a.Experiences {
		ids[i] = id.String()
	}
	t.event(Event{Type: "alert.raised", Data: map[string]string{
		"alert": a.Name, "kind": a.Kind, "severity": a.Severity, "value": strconv.FormatInt(a.Value, 10), "limit": strconv.FormatInt(a.Limit, 10),
		"members": strings.Join(a.Members, " "), "experiences": strings.Join(ids, " "),
	}})
	return 1
}

// Alerts lists the alerts of a namespace that stand, by name.
func (v *View) Alerts(ns *Namespace) (map[string]StandingAlert, error) {
	out := map[string]StandingAlert{}
	err := list(v, nsKey(kindAlert, ns.Number), nil, func(suffix []byte, a *StandingAlert) bool {
		out[string(suffix)] = *a
		return true
	})
	return out, err
}
