package main

import (
	"fmt"
	"io"
	"time"

	"cairn/node/api"
)

type modelsCmd struct{}

// Run shows the language models.
func (modelsCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	m, err := cl.Models(a.ctx)
	if err != nil {
		return err
	}
	return a.show(m, func(w io.Writer) { printModels(w, m) })
}

func printModels(w io.Writer, m api.Models) {
	fmt.Fprintf(w, "role\tmodel\tendpoint\tstate\n")
	for _, r := range m.Roles {
		if !r.Enabled {
			fmt.Fprintf(w, "%s\t-\t-\tby rule\n", r.Role)
			continue
		}
		state := "in use"
		if r.RestsForSeconds > 0 {
			state = "out of reach, asked again in " + (time.Duration(r.RestsForSeconds * float64(time.Second))).Round(time.Second).String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.Role, r.Model, r.Endpoint, state)
	}
	fmt.Fprintf(w, "\nbudget\ttokens a minute\ta day\n")
	fmt.Fprintf(w, "namespace\t%s\t%s\nagent\t%s\t%s\n", bound(m.Namespace.PerMinute), bound(m.Namespace.PerDay), bound(m.Agent.PerMinute), bound(m.Agent.PerDay))
	fmt.Fprintf(w, "spent today\t\t%d\n", m.Usage.TokensToday)
	if m.Waiting > 0 {
		fmt.Fprintf(w, "waiting jobs\t\t%d\n", m.Waiting)
	}
	if len(m.Usage.Lines) > 0 {
		fmt.Fprintf(w, "\nrole\tmodel\tcalls\tcached\tfailed\trefused\ttokens\n")
	}
	for _, l := range m.Usage.Lines {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t%d\n", l.Role, l.Model, l.Calls, l.Cached, l.Failed, l.Refused, l.PromptTokens+l.AnswerTokens)
	}
}

func bound(tokens int64) string {
	if tokens < 0 {
		return "no bound"
	}
	return fmt.Sprint(tokens)
}
