package main

import (
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

type recallCmd struct {
	Task     string            `arg:"" optional:"" help:"The task, in words."`
	Messages string            `help:"A conversation instead of a task: a JSON list of {role, content}; - is standard input." placeholder:"FILE"`
	TaskType string            `help:"Task type that trust is measured for."`
	GroupKey string            `help:"Group key of the task's attempts."`
	Context  string            `help:"More about the situation."`
	K        *int              `short:"k" help:"How many, 1..50." placeholder:"5"`
	Mode     string            `help:"inject (counted, with a receipt) or search."`
	Pool     []string          `help:"own, meta (repeatable; both when absent)."`
	OnlyType string            `help:"Only experiences of this task type."`
	Tool     []string          `help:"Only experiences that need no other tools (repeatable)."`
	Kind     []string          `help:"Only these kinds (repeatable)."`
	MinTrust float64           `help:"Least trust, 0..1."`
	RPE      string            `name:"rpe" help:"positive or negative surprise only."`
	Since    string            `help:"Only newer ones, RFC 3339."`
	Env      map[string]string `name:"environment" help:"Environment, as key=value (repeatable)." placeholder:"KEY=VALUE"`
	Budget   int               `name:"token-budget" help:"Estimated tokens of the guidance."`
	As       string            `help:"What this agent would find (admin, auditor; search mode)."`
	Guidance bool              `help:"Print only the text to put in a prompt."`
}

// Run asks and prints what fits; an empty answer is no error.
func (c recallCmd) Run(a *app) error {
	if (c.Task == "") == (c.Messages == "") {
		return usage("recall needs a task or --messages, and not both")
	}
	var messages []api.Message
	if c.Messages != "" {
		if err := a.decodeFrom(c.Messages, &messages); err != nil {
			return err
		}
		if len(messages) == 0 {
			return usage("%s: no messages", c.Messages)
		}
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	ans, err := cl.Recall(a.ctx, api.RecallRequest{
		Task: c.Task, Messages: messages, TaskType: c.TaskType, GroupKey: c.GroupKey, Context: c.Context, K: c.K, Mode: c.Mode, Pools: c.Pool,
		Filters: api.RecallFilters{
			TaskType: c.OnlyType, Tools: c.Tool, Kind: c.Kind, MinTrust: c.MinTrust, RPE: c.RPE, Since: c.Since,
		},
		Environment: c.Env, TokenBudget: c.Budget, As: c.As,
	})
	if err != nil {
		return err
	}
	if c.Guidance && !a.globals.JSON {
		_, err := fmt.Fprintln(a.stdout, ans.Guidance)
		return err
	}
	return a.show(ans, func(w io.Writer) { printRecall(w, ans) })
}

func printRecall(w io.Writer, ans api.RecallAnswer) {
	if len(ans.Experiences) == 0 {
		fmt.Fprintf(w, "nothing fits (%s)\n", ans.WhyEmpty)
	}
	for _, r := range ans.Experiences {
		e := r.Experience
		fmt.Fprintf(w, "%d. %s  %s  score %.2f%s%s\n", r.Rank, e.ID, e.Pool, r.Score, trustOf(e), flags(r))
		fmt.Fprintf(w, "   %s\n   %s\n", oneLine(e.Scenario, 160), oneLine(e.Content, 400))
	}
	if ans.Receipt != "" {
		fmt.Fprintf(w, "\nreceipt %s\n", ans.Receipt)
	}
	for _, d := range ans.Degraded {
		fmt.Fprintf(w, "degraded: %s\n", d)
	}
}

func trustOf(e api.Experience) string {
	if e.Trust == nil {
		return ""
	}
	return fmt.Sprintf("  trust %.2f [%.2f, %.2f]", e.Trust.Value, e.Trust.Low, e.Trust.High)
}

func flags(r api.Recalled) string {
	var out []string
	for _, f := range []struct {
		name string
		on   bool
	}{{"exploratory", r.Exploratory}, {"unproven", r.Unproven}, {"buffered", r.Buffered}} {
		if f.on {
			out = append(out, f.name)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "  (" + strings.Join(out, ", ") + ")"
}

type outcomeCmd struct {
	Receipt  string   `arg:"" help:"Receipt of the recall."`
	Success  bool     `help:"The task succeeded." xor:"result"`
	Failure  bool     `help:"The task failed." xor:"result"`
	Reward   *float64 `help:"Reward, 0..1."`
	Evidence string   `help:"verified (test, tool, environment), judge or self."`
	Used     []string `help:"Id that was used (repeatable, or with commas)." xor:"used"`
	Unused   bool     `help:"None was used." xor:"used"`
	Note     string   `help:"Remark."`
}

// Run reports the outcome.
func (c outcomeCmd) Run(a *app) error {
	req := api.OutcomeRequest{Reward: c.Reward, Evidence: c.Evidence, Note: c.Note}
	if c.Success || c.Failure {
		req.Success = &c.Success
	}
	if req.Success == nil && req.Reward == nil {
		return usage("outcome needs --success, --failure or --reward")
	}
	if c.Unused {
		c.Used = []string{}
	}
	if c.Used != nil {
		req.Used = &c.Used
	}
	cl, err := a.client()
	if err != nil {
		return err
	}
	done, err := cl.Outcome(a.ctx, c.Receipt, req)
	if err != nil {
		return err
	}
	return a.show(done.Value, func(w io.Writer) { printOutcome(w, done.Value) })
}

func printOutcome(w io.Writer, o api.OutcomeAnswer) {
	fmt.Fprintf(w, "reported\t%d citations\n", len(o.Citations))
	for _, t := range o.Trust {
		fmt.Fprintf(w, "%s\ttrust %.3f -> %.3f\n", t.Experience, t.Before, t.After)
	}
	if o.Reflection != nil {
		fmt.Fprintf(w, "reflection\t%s\nhypothesis\t%s\n", o.Reflection.ID, oneLine(o.Reflection.Hypothesis, 2000))
	}
}
