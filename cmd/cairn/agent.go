package main

import (
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

type agentCmd struct {
	Add  agentAddCmd  `cmd:"" help:"Enrol an agent and print its key, once."`
	List agentListCmd `cmd:"" help:"List agents."`
}

type agentAddCmd struct {
	ID        string            `arg:"" help:"Id of the agent: letters, digits, dot, dash, underscore."`
	Principal string            `help:"Accountable owner; the agent itself when absent."`
	Role      []string          `help:"Role: agent, curator, auditor, admin (repeatable)."`
	Tool      []string          `help:"Tool that the agent has (repeatable)."`
	Env       map[string]string `name:"environment" help:"Environment, as key=value (repeatable)." mapsep:"," placeholder:"KEY=VALUE"`
	Share     string            `help:"Sharing of what it records: auto, candidate, never."`
}

// Run enrols the agent.
func (c agentAddCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.CreateAgent(a.ctx, api.CreateAgent{
		ID: c.ID, Principal: c.Principal, Roles: c.Role, Environment: c.Env, Tools: c.Tool, Share: c.Share,
	})
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) {
		fmt.Fprintf(w, "agent\t%s\nprincipal\t%s\nroles\t%s\n", done.Value.ID, done.Value.Principal, strings.Join(done.Value.Roles, ", "))
		if done.Value.Key != nil {
			fmt.Fprintf(w, "key\t%s\n\nThe key is shown only now: CAIRN_KEY=%s\n", *done.Value.Key, *done.Value.Key)
		}
	})
}

type agentListCmd struct {
	Limit  int    `help:"Items a page, 1..500."`
	Cursor string `help:"Where the page starts: next_cursor of the one before."`
}

// Run lists one page of agents.
func (c agentListCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	list, err := cl.Agents(a.ctx, api.Page{Limit: c.Limit, Cursor: c.Cursor})
	if err != nil {
		return err
	}
	return a.show(list, func(w io.Writer) {
		fmt.Fprintln(w, "AGENT\tPRINCIPAL\tROLES\tTOOLS\tSINCE")
		for _, g := range list.Items {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", g.ID, g.Principal, strings.Join(g.Roles, ","), oneLine(strings.Join(g.Tools, ","), 40), g.CreatedAt)
		}
		nextPage(w, list.NextCursor)
	})
}

func nextPage(w io.Writer, cursor *string) {
	if cursor != nil {
		fmt.Fprintf(w, "\nmore: --cursor %s\n", *cursor)
	}
}
