package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

var calendarEvent = &kind{
	name: "calendar_event",
	tools: []Tool{
		{"open_calendar", []Arg{{Name: "person"}}},
		{"add_event", []Arg{{Name: "title"}, {Name: "date"}, {Name: "format", Options: []string{"dmy", "mdy"}}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"person": pick(r, people), "title": pick(r, meetings), "date": drawSlashed(r)}
		if r.IntN(2) == 0 {
			return fmt.Sprintf("Our London office: add %s on %s to the calendar of %s", v["title"], v["date"], v["person"]), v, "dmy"
		}
		return fmt.Sprintf("Our Boston office: add %s on %s to the calendar of %s", v["title"], v["date"], v["person"]), v, "mdy"
	},
	environment: func(format string) map[string]string {
		if format == "dmy" {
			return map[string]string{"office": "london"}
		}
		return map[string]string{"office": "boston"}
	},
	start: func(t *Task) backend { return &calendar{task: t} },
}

// calendar takes a date in either order and says nothing when it is the wrong one for the office: the event is then on
// another day.
type calendar struct {
	task        *Task
	open, right bool
}

func (k *calendar) done() bool { return k.right }

func (k *calendar) call(c Call) (string, error) {
	if c.Tool == "open_calendar" {
		if err := mismatch(k.task, c, "person"); err != nil {
			return "", err
		}
		k.open = true
		return "calendar open", nil
	}
	if err := mismatch(k.task, c, "title", "date"); err != nil {
		return "", err
	}
	if !k.open {
		return "", errors.New("409 no calendar is open")
	}
	k.right = c.Args["format"] == k.task.hidden
	return "event added", nil
}

var ticketClose = &kind{
	name: "ticket_close",
	tools: []Tool{
		{"assign_ticket", []Arg{{Name: "ticket"}, {Name: "team", Options: []string{"billing", "support"}}}},
		{"add_note", []Arg{{Name: "ticket"}}},
		{"close_ticket", []Arg{{Name: "ticket"}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"ticket": drawCode(r, "TK")}
		return fmt.Sprintf("Settle the complaint in helpdesk ticket %s", v["ticket"]), v, ""
	},
	start: func(t *Task) backend { return &helpdesk{task: t} },
}

// helpdesk lets anyone close a ticket and opens it again at night when it has no note or the wrong team.
type helpdesk struct {
	task                  *Task
	assigned, noted, kept bool
}

func (h *helpdesk) done() bool { return h.kept }

func (h *helpdesk) call(c Call) (string, error) {
	if err := mismatch(h.task, c, "ticket"); err != nil {
		return "", err
	}
	switch c.Tool {
	case "assign_ticket":
		h.assigned = c.Args["team"] == "support"
		return "assigned", nil
	case "add_note":
		h.noted = true
		return "note added", nil
	}
	h.kept = h.assigned && h.noted
	return "ticket closed", nil
}

var snapshotRestore = &kind{
	name: "snapshot_restore",
	tools: []Tool{
		{"list_snapshots", []Arg{{Name: "volume"}}},
		{"restore_snapshot", []Arg{{Name: "volume"}, {Name: "point", Options: []string{"latest", "previous"}}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"volume": pick(r, volumes)}
		return fmt.Sprintf("Bring back the lost files of storage volume %s", v["volume"]), v, ""
	},
	start: func(t *Task) backend { return &storage{task: t} },
}

// storage restores whatever it is told to; the latest snapshot was taken after the loss.
type storage struct {
	task            *Task
	listed, restore bool
}

func (s *storage) done() bool { return s.restore }

func (s *storage) call(c Call) (string, error) {
	if err := mismatch(s.task, c, "volume"); err != nil {
		return "", err
	}
	if c.Tool == "list_snapshots" {
		s.listed = true
		return "2 snapshots", nil
	}
	if !s.listed {
		return "", errors.New("409 snapshot list is not loaded")
	}
	s.restore = c.Args["point"] == "previous"
	return "restored", nil
}

var dataDeletion = &kind{
	name: "data_deletion",
	tools: []Tool{
		{"verify_identity", []Arg{{Name: "customer"}, {Name: "channel", Options: []string{"letter", "phone"}}}},
		{"export_data", []Arg{{Name: "customer"}}},
		{"delete_data", []Arg{{Name: "customer"}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"customer": drawCode(r, "CU")}
		return fmt.Sprintf("Customer %s wants all personal data erased", v["customer"]), v, ""
	},
	start: func(t *Task) backend { return &customerDesk{task: t} },
}

var addressChange = &kind{
	name: "address_change",
	tools: []Tool{
		{"unlock_order", []Arg{{Name: "order"}}},
		{"set_address", []Arg{{Name: "order"}, {Name: "street"}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"order": drawCode(r, "OR"), "street": pick(r, streets)}
		return fmt.Sprintf("Send parcel order %s to %s instead", v["order"], v["street"]), v, ""
	},
	start: func(t *Task) backend { return &customerDesk{task: t} },
}

// customerDesk changes orders once they are unlocked and deletes data once identity is verified by phone and a copy has
// been made.
type customerDesk struct {
	task                         *Task
	verified, exported, unlocked bool
	finished                     bool
}

func (d *customerDesk) done() bool { return d.finished }

func (d *customerDesk) call(c Call) (string, error) {
	for name := range c.Args {
		if name == "channel" {
			continue
		}
		if err := mismatch(d.task, c, name); err != nil {
			return "", err
		}
	}
	switch c.Tool {
	case "verify_identity":
		return d.verify(c)
	case "export_data":
		d.exported = true
		return "copy made", nil
	case "unlock_order":
		d.unlocked = true
		return "order unlocked", nil
	case "set_address":
		return d.finish(d.unlocked, "423 order is locked")
	}
	return d.finish(d.verified && d.exported, "412 identity or data copy is missing")
}

func (d *customerDesk) verify(c Call) (string, error) {
	if c.Args["channel"] == "letter" {
		return "", errors.New("408 letter was not answered in time")
	}
	d.verified = true
	return "verified", nil
}

func (d *customerDesk) finish(ready bool, refusal string) (string, error) {
	if !ready {
		return "", errors.New(refusal)
	}
	d.finished = true
	return "done", nil
}
