package main

import (
	"context"
	"fmt"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"cairn/node/api"
	"cairn/web/client"
)

// juryTries is more than the rule for promotion asks of two jurors.
const juryTries = 60

// cmdJury lets jurors fail at refunds by themselves and succeed with what they are given, until a promotion waits.
func cmdJury(ts *testscript.TestScript, neg bool, keys []string) {
	if neg || len(keys) < 2 {
		ts.Fatalf("usage: jury KEY KEY...")
	}
	ctx := context.Background()
	jurors := make([]*client.Client, len(keys))
	for i, key := range keys {
		var err error
		jurors[i], err = client.New(ts.Getenv("CAIRN_ADDR"), key, client.WithSession())
		ts.Check(err)
	}
	curator, err := client.New(ts.Getenv("CAIRN_ADDR"), ts.Getenv("CAIRN_KEY"))
	ts.Check(err)
	for i := range juryTries {
		for _, juror := range jurors {
			ts.Check(try(ctx, juror, i))
		}
		waiting, err := curator.Promotions(ctx, "pending", api.Page{})
		ts.Check(err)
		if len(waiting.Items) > 0 {
			return
		}
	}
	ts.Fatalf("no promotion waits after %d tries of each juror", juryTries)
}

// try is one refund without advice, which fails, and one with what a recall gives, which works.
func try(ctx context.Context, juror *client.Client, i int) error {
	nothing, yes := 0.0, true
	_, err := juror.RecordTrajectory(ctx, api.RecordTrajectory{
		Task: fmt.Sprintf("Refund order %d in another shop", i), TaskType: "refund", Complete: true,
		Attempts: []api.Attempt{{Reward: &nothing, Steps: []api.Step{{Tool: "refund", Observation: "error: payment not verified"}}}},
	}, 20*time.Second)
	if err != nil {
		return err
	}
	a, err := juror.Recall(ctx, api.RecallRequest{Task: "Refund the order of a customer who paid by card", TaskType: "refund", GroupKey: fmt.Sprint(i)})
	if err != nil || a.Receipt == "" {
		return err
	}
	used := []string{}
	for _, r := range a.Experiences {
		if r.Experience.Pool == "candidates" {
			used = append(used, r.Experience.ID)
		}
	}
	_, err = juror.Outcome(ctx, a.Receipt, api.OutcomeRequest{Success: &yes, Evidence: "verified", Used: &used})
	return err
}
