package store

import (
	"strconv"
	"strings"
	"testing"
)

func (l *lab) alertEvents() (out []Event) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		if err := v.Events(ns, 0, 0, func(_ uint64, _ uint32, e *Event) bool {
			if strings.HasPrefix(e.Type, "alert.") {
				out = append(out, *e)
			}
			return true
		}); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

func (l *lab) seen() uint64 {
	at, _ := l.s.Applied()
	return at
}

func (l *lab) standing() (out map[string]StandingAlert) {
	l.t.Helper()
	l.read(func(v *View, ns *Namespace) {
		var err error
		if out, err = v.Alerts(ns); err != nil {
			l.t.Fatal(err)
		}
	})
	return out
}

func TestAlertsAreRaisedAndClearedOnce(t *testing.T) {
	l := newLab(t)
	item := l.id()
	raised := RaisedAlert{
		Name: "burst/" + item.String(), Kind: "burst", Severity: "warning", Value: 900_000, Limit: 600_000,
		Members: []string{"principal:a", "principal:b"}, Experiences: []ID{item},
	}
	var out AlertsChanged
	for i, want := range []AlertsChanged{{Raised: 1}, {}, {Cleared: 1}, {}, {Raised: 1}} {
		l.now += 1000
		b := Alerts{Raise: []RaisedAlert{raised, raised}, Seen: l.seen()}
		if i == 2 || i == 3 {
			b = Alerts{Clear: []string{raised.Name, raised.Name}, Seen: l.seen()}
		}
		if l.do(KindAlerts, b, &out); out != want {
			t.Errorf("step %d: %+v, want %+v", i, out, want)
		}
		l.mustCheck()
	}
	if got := l.standing(); len(got) != 1 || got[raised.Name] != (StandingAlert{"burst", "warning", l.now}) || l.counter("alerts") != 1 {
		t.Errorf("standing %+v, %d counted", got, l.counter("alerts"))
	}
	events := l.alertEvents()
	if len(events) != 3 || events[0].Type != "alert.raised" || events[1].Type != "alert.cleared" || events[2].Type != "alert.raised" {
		t.Fatalf("events %+v", events)
	}
	for k, want := range map[string]string{
		"alert": raised.Name, "kind": "burst", "severity": "warning", "value": "900000", "limit": "600000", "members": "principal:a principal:b",
		"experiences": item.String(),
	} {
		if events[0].Data[k] != want {
			t.Errorf("%s is %q, want %q", k, events[0].Data[k], want)
		}
	}
	if d := events[1].Data; d["alert"] != raised.Name || d["kind"] != "burst" {
		t.Errorf("cleared with %v", d)
	}
	l.reopen()
	if len(l.standing()) != 1 {
		t.Error("what stood is forgotten by a restart")
	}
}

// TestAlertsOfAnOldLook: what was proposed from a state before the last change is refused, and the refusal changes nothing.
func TestAlertsOfAnOldLook(t *testing.T) {
	l := newLab(t)
	old := l.seen()
	l.do(KindAlerts, Alerts{Raise: []RaisedAlert{{Name: "duplicates", Kind: "duplicates"}}, Seen: old}, nil)
	l.do(KindAlerts, Alerts{Clear: []string{"duplicates"}, Seen: l.seen()}, nil)
	before := l.dump()
	l.refuse(KindAlerts, Alerts{Raise: []RaisedAlert{{Name: "duplicates", Kind: "duplicates"}}, Seen: old}, "precondition")
	if l.dump() != before || len(l.alertEvents()) != 2 {
		t.Errorf("a late proposal was followed: %v", l.alertEvents())
	}
}

func TestAlertBounds(t *testing.T) {
	l := newLab(t)
	good := RaisedAlert{Name: "burst/1", Kind: "burst"}
	for name, b := range map[string]Alerts{
		"too many changes": {Raise: make([]RaisedAlert, 40), Clear: make([]string, MaxAlertChanges-39)},
		"no name":          {Raise: []RaisedAlert{{Kind: "burst"}}},
		"no kind":          {Raise: []RaisedAlert{{Name: "burst"}}},
		"long name":        {Raise: []RaisedAlert{{Kind: "burst", Name: strings.Repeat("x", maxAlertNameSize+1)}}},
		"many members":     {Raise: []RaisedAlert{good, {Kind: "burst", Name: "x", Members: make([]string, MaxAlertMembers+1)}}},
		"many experiences": {Raise: []RaisedAlert{good, {Kind: "burst", Name: "x", Experiences: make([]ID, MaxAlertMembers+1)}}},
	} {
		b.Seen = l.seen()
		if l.refuse(KindAlerts, b, "invalid"); len(l.standing()) != 0 {
			t.Errorf("%s: a refused command raised %v", name, l.standing())
		}
	}
	for from := 0; from < maxAlertsStand+MaxAlertChanges; from += MaxAlertChanges {
		b := Alerts{Seen: l.seen()}
		for i := range MaxAlertChanges {
			b.Raise = append(b.Raise, RaisedAlert{Name: "burst/" + strconv.Itoa(from+i), Kind: "burst"})
		}
		l.do(KindAlerts, b, nil)
	}
	if got := len(l.standing()); got != maxAlertsStand || l.counter("alerts") != maxAlertsStand {
		t.Errorf("%d alerts stand, want no more than %d", got, maxAlertsStand)
	}
	l.mustCheck()
}
