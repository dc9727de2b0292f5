package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cairn/node/api"
	"cairn/web/client"
)

type feedCmd struct {
	Since    string        `help:"Cursor to go on after; absent: from now on." placeholder:"CURSOR"`
	Type     []string      `help:"Only these event types (repeatable)."`
	Pool     []string      `help:"Only these pools (repeatable)."`
	TaskType []string      `help:"Only these task types (repeatable)."`
	Agent    []string      `help:"Only these agents (repeatable)."`
	MinTrust float64       `help:"Least trust, 0..1."`
	Count    int           `help:"End after this many events."`
	Idle     time.Duration `help:"End when no event has come for this long." placeholder:"5s"`
}

// Run prints messages, with --json one a line, until it is interrupted or a limit is reached. A lost connection is made
// again and goes on strictly after the last message printed.
func (c feedCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	feed, err := cl.Feed(a.ctx, c.Since, api.FeedFilter{
		Types: c.Type, Pools: c.Pool, TaskTypes: c.TaskType, Agents: c.Agent, MinTrust: c.MinTrust,
	})
	if err != nil {
		return err
	}
	defer feed.Close()
	for n := 0; c.Count == 0 || n < c.Count; {
		m, err := c.next(a.ctx, feed)
		if errors.Is(err, context.Canceled) || errors.Is(err, errIdle) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := a.printMessage(m); err != nil {
			return err
		}
		if m.Type == "event" {
			n++
		}
	}
	return nil
}

var errIdle = errors.New("no event for the idle time")

func (c feedCmd) next(ctx context.Context, feed *client.Feed) (api.FeedMessage, error) {
	if c.Idle > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.Idle, errIdle)
		defer cancel()
	}
	m, err := feed.Next(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return m, errIdle
	}
	return m, err
}

func (a *app) printMessage(m api.FeedMessage) error {
	if a.globals.JSON {
		line, err := json.Marshal(m)
		if err != nil {
			return fmt.Errorf("encode message: %w", err)
		}
		_, err = fmt.Fprintf(a.stdout, "%s\n", line)
		return err
	}
	var err error
	switch m.Type {
	case "event":
		about := m.Experience
		if alert, ok := m.Data["alert"].(string); ok {
			about = alert
		}
		_, err = fmt.Fprintf(a.stdout, "%s  %-24s %-26s %s  %s\n", m.Time, m.Event, about, m.Agent, m.Cursor)
	case "gap":
		_, err = fmt.Fprintf(a.stdout, "gap: events from %s to %s are no longer kept; read %s\n", m.From, m.To, m.Snapshot)
	default:
		_, err = fmt.Fprintf(a.stdout, "%s  %s\n", m.Type, m.Cursor)
	}
	return err
}
