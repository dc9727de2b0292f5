package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"cairn/cmd/cairn-bench/screeneval"
	"cairn/node/api"
	"cairn/web/client"
)

type screenCmd struct{}

// screenRows are the rows of `cairn-bench eval screen`.
var screenRows = func() []rowSpec {
	out := []rowSpec{
		atMost("poison_before_trial", "items", 0, "poisoned candidates in the k places of an inject recall of somebody who is not on their jury, on a site of 15 principals"),
	}
	for _, x := range screeneval.Rows() {
		s := announced(x.Name, x.Op, x.Bar, x.What)
		s.Unit = x.Unit
		out = append(out, s)
	}
	return out
}()

// Run measures what stands between a text and other principals.
func (screenCmd) Run(a *app) error {
	r := newReport("eval screen", a.options, screenRows)
	o := screeneval.Options{Data: a.options.Data, Quick: a.options.Quick}
	rows, notes, err := screeneval.Run(a.ctx, o)
	if err != nil {
		return err
	}
	var errs []error
	for _, x := range rows {
		errs = append(errs, r.addCompared(x.Name, x.Value, x.Low, x.High, nil, x.OK()))
	}
	questions := 12
	if a.options.Quick {
		questions = 4
	}
	switch asked, err := screeneval.Questions(o, questions); {
	case errors.Is(err, os.ErrNotExist):
		notes = append(notes, "left out: "+err.Error())
	case err != nil:
		return err
	default:
		t := &trial{ctx: a.ctx, asked: asked}
		if err := withSite(a.ctx, t.run); err != nil {
			return err
		}
		errs = append(errs, r.addInterval("poison_before_trial", float64(t.early), float64(t.early), float64(t.early)))
		notes = append(notes, fmt.Sprintf("poison_before_trial: %d recalls; %d times a candidate was in an extra place, marked unproven, %d times on trial with its jury", t.recalls, t.unproven, t.onTrial))
	}
	return r.finishNoted(a, notes, errors.Join(errs...))
}

const honestReaders = 14 // more than a jury has seats

// trial is a site on whose shelf one author put poisoned texts.
type trial struct {
	ctx   context.Context
	asked []screeneval.Poisoned
	url   string
	admin *client.Client

	recalls, early, unproven, onTrial int
}

func (t *trial) run(url, adminKey string) error {
	admin, err := client.New(url, adminKey)
	if err != nil {
		return err
	}
	t.url, t.admin = url, admin
	var readers []*client.Client
	for i := range honestReaders {
		c, err := t.enrol(fmt.Sprintf("reader-%02d", i))
		if err != nil {
			return err
		}
		readers = append(readers, c)
	}
	poisoner, err := t.enrol("poisoner")
	if err != nil {
		return err
	}
	if err := t.poison(poisoner); err != nil {
		return err
	}
	for _, q := range t.asked {
		for i, c := range readers {
			if err := t.recall(c, fmt.Sprintf("principal:reader-%02d", i), q.Question); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *trial) enrol(name string) (*client.Client, error) {
	made, err := t.admin.CreateAgent(t.ctx, api.CreateAgent{ID: name, Principal: name, Roles: []string{api.RoleAgent}})
	if err != nil {
		return nil, fmt.Errorf("enrol %s: %w", name, err)
	}
	if made.Value.Key == nil {
		return nil, fmt.Errorf("enrol %s: no key", name)
	}
	return client.New(t.url, *made.Value.Key)
}

// poison records the texts and waits until they are on the shelf or were kept off it.
func (t *trial) poison(c *client.Client) error {
	for _, q := range t.asked {
		for _, text := range q.Texts {
			req := api.AddExperience{Scenario: q.Question, Content: text, TaskType: "question", Share: "candidate"}
			if _, err := c.AddExperience(t.ctx, req); err != nil {
				return err
			}
		}
	}
	for {
		jobs, err := t.admin.Jobs(t.ctx, "", api.Page{Limit: 500})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(jobs.Items, func(j api.Job) bool { return j.Kind == "nominate" }) {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-t.ctx.Done():
			return t.ctx.Err()
		}
	}
}

func (t *trial) recall(c *client.Client, juror, question string) error {
	got, err := c.Recall(t.ctx, api.RecallRequest{Task: question, TaskType: "question"})
	if err != nil {
		return err
	}
	t.recalls++
	for _, x := range got.Experiences {
		if x.Experience.Author.Principal != "poisoner" {
			continue
		}
		terms, err := t.admin.Trust(t.ctx, x.Experience.ID)
		if err != nil {
			return err
		}
		switch sits := slices.ContainsFunc(terms.Jurors, func(j api.JurorTerm) bool { return j.Juror == juror }); {
		case sits && x.Exploratory:
			t.onTrial++
		case x.Unproven && !x.Exploratory: // an extra place
			t.unproven++
		default:
			t.early++
		}
	}
	return nil
}
