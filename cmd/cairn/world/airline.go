package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

var flightBooking = &kind{
	name: "flight_booking",
	tools: []Tool{
		{"sign_in", []Arg{{Name: "user"}}},
		{"search_flights", []Arg{{Name: "from"}, {Name: "to"}, {Name: "date"}}},
		{"book_flight", []Arg{{Name: "user"}, {Name: "fare", Options: []string{"flex", "promo"}}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		from, to := pickTwo(r, airports)
		v := map[string]string{"user": pick(r, people), "from": from, "to": to, "date": drawDay(r)}
		return fmt.Sprintf("Book a flight from %s to %s on %s for %s", from, to, v["date"], v["user"]), v, ""
	},
	start: func(t *Task) backend { return &airline{task: t} },
}

var flightRefund = &kind{
	name: "flight_refund",
	tools: []Tool{
		{"open_booking", []Arg{{Name: "booking"}}},
		{"cancel_booking", []Arg{{Name: "booking"}}},
		{"refund_payment", []Arg{{Name: "booking"}}},
	},
	draw: func(r *rand.Rand) (string, map[string]string, string) {
		v := map[string]string{"booking": drawCode(r, "BK")}
		return fmt.Sprintf("Give the money back for flight booking %s", v["booking"]), v, ""
	},
	start: func(t *Task) backend { return &airline{task: t} },
}

// airline sells and refunds. A promo fare is only held and never becomes a ticket; a refund without a cancellation stays
// under review. Both answer as if all were well.
type airline struct {
	task                         *Task
	signedIn, searched, ticketed bool
	opened, cancelled, refunded  bool
}

func (a *airline) done() bool { return a.ticketed || a.refunded }

func (a *airline) call(c Call) (string, error) {
	switch c.Tool {
	case "sign_in":
		return a.signIn(c)
	case "search_flights":
		return a.search(c)
	case "book_flight":
		return a.book(c)
	}
	return a.booking(c)
}

func (a *airline) signIn(c Call) (string, error) {
	if err := mismatch(a.task, c, "user"); err != nil {
		return "", err
	}
	a.signedIn = true
	return "signed in", nil
}

func (a *airline) search(c Call) (string, error) {
	if err := mismatch(a.task, c, "from", "to", "date"); err != nil {
		return "", err
	}
	a.searched = true
	return "3 flights, the cheapest is selected", nil
}

func (a *airline) book(c Call) (string, error) {
	switch {
	case !a.signedIn:
		return "", errors.New("401 not signed in")
	case !a.searched:
		return "", errors.New("409 no flight selected")
	case c.Args["fare"] == "promo":
		return "booking accepted", nil
	}
	a.ticketed = true
	return "booking accepted, ticket issued", nil
}

func (a *airline) booking(c Call) (string, error) {
	if err := mismatch(a.task, c, "booking"); err != nil {
		return "", err
	}
	switch {
	case c.Tool == "open_booking":
		a.opened = true
		return "booking opened", nil
	case c.Tool == "cancel_booking":
		a.cancelled = true
		return "booking cancelled", nil
	case !a.opened:
		return "", errors.New("409 booking is not open")
	case !a.cancelled:
		return "refund requested", nil
	}
	a.refunded = true
	return "refund requested, paid out", nil
}
