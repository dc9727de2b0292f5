package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

var pagedSearch = &kind{
	name: "paged_search",
	tools: []Tool{
		{"search_items", []Arg{{Name: "query"}, {Name: "page", Options: []string{"1", "2", "3"}}}},
		{"add_to_cart", []Arg{{Name: "item"}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		item := pick(r, goods)
		return fmt.Sprintf("Put the cheapest %s in the shopping cart", item), map[string]string{"query": item, "item": item}, ""
	},
	start: func(t *Task) backend { return &shop{task: t} },
}

// shop shows advertisements on its first page: what is put in the cart from there is not the cheapest offer.
type shop struct {
	task *Task
	page string
	best bool
}

func (s *shop) done() bool { return s.best }

func (s *shop) call(c Call) (string, error) {
	if c.Tool == "search_items" {
		return s.search(c)
	}
	if err := mismatch(s.task, c, "item"); err != nil {
		return "", err
	}
	if s.page == "" {
		return "", errors.New("409 no search results to add from")
	}
	s.best = s.page == "2"
	return "added to cart", nil
}

func (s *shop) search(c Call) (string, error) {
	if err := mismatch(s.task, c, "query"); err != nil {
		return "", err
	}
	if c.Args["page"] == "3" {
		s.page = ""
		return "", errors.New("404 no results on this page")
	}
	s.page = c.Args["page"]
	return "20 results", nil
}

var bankTransfer = &kind{
	name: "bank_transfer",
	tools: []Tool{
		{"open_session", []Arg{{Name: "owner"}}},
		{"transfer_money", []Arg{{Name: "account"}, {Name: "speed", Options: []string{"standard", "instant"}}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"owner": pick(r, people), "account": drawCode(r, "AC")}
		return fmt.Sprintf("Transfer the monthly rent of %s to bank account %s", v["owner"], v["account"]), v, ""
	},
	start: func(t *Task) backend { return &bank{task: t} },
}

// bank wants a session first and refuses instant transfers of this size.
type bank struct {
	task       *Task
	open, paid bool
}

func (b *bank) done() bool { return b.paid }

func (b *bank) call(c Call) (string, error) {
	if c.Tool == "open_session" {
		if err := mismatch(b.task, c, "owner"); err != nil {
			return "", err
		}
		b.open = true
		return "session open", nil
	}
	if err := mismatch(b.task, c, "account"); err != nil {
		return "", err
	}
	switch {
	case !b.open:
		return "", errors.New("401 login required")
	case c.Args["speed"] == "instant":
		return "", errors.New("403 amount is above the limit for instant transfers")
	}
	b.paid = true
	return "transfer booked", nil
}

var forecast = &kind{
	name: "forecast",
	tools: []Tool{
		{"get_forecast", []Arg{{Name: "city"}}},
		{"wait", []Arg{{Name: "pause", Options: []string{"short", "long"}}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"city": pick(r, cities)}
		hidden := "busy"
		if r.Float64() < .25 {
			hidden = "idle"
		}
		return fmt.Sprintf("Fetch the weather forecast for %s", v["city"]), v, hidden
	},
	start: func(t *Task) backend { return &forecaster{task: t, limited: t.hidden == "busy"} },
}

// forecaster is rate limited: while other clients are busy it answers 429 until the caller has waited long enough.
type forecaster struct {
	task            *Task
	limited, served bool
}

func (f *forecaster) done() bool { return f.served }

func (f *forecaster) call(c Call) (string, error) {
	if c.Tool == "wait" {
		if c.Args["pause"] == "long" {
			f.limited = false
		}
		return "waited", nil
	}
	if err := mismatch(f.task, c, "city"); err != nil {
		return "", err
	}
	if f.limited {
		return "", errors.New("429 too many requests, wait before the next one")
	}
	f.served = true
	return "sunny, light wind", nil
}
