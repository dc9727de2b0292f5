package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"cairn/federation"
	"cairn/index"
	"cairn/index/embed"
	"cairn/node/acquire"
	"cairn/node/compact"
	"cairn/node/llm"
	"cairn/node/store"
)

const (
	compactRead = 300 // newest successes of a sub-pool that are looked at
	// strategyScenario and strategyContent are the cosines on the common scale from which two successes are of one kind.
	// They are below those of a merge: what differs in value or name is what a strategy leaves open.
	strategyScenario = .60
	strategyContent  = .55
)

// success is one that may become part of a strategy.
type success struct {
	exp     *store.Experience
	vectors []embed.Vector
}

// compact looks in one sub-pool of one agent for successes of a kind and writes a strategy for each kind of them.
func (n *Node) compact(ctx context.Context, job store.Job) error {
	if job.Owner == store.SharedOwner {
		return n.shareStrategy(ctx, job)
	}
	v, ns, err := n.openJob(job)
	if err != nil {
		return err
	}
	defer v.Close()
	list, err := n.successes(v, ns, job)
	if err != nil {
		return err
	}
	body := store.Compacted{Job: ref(job)}
	for _, cluster := range compact.Clusters(len(list), func(i, j int) bool { return sameSort(list[i], list[j]) }) {
		s, ok, err := n.strategy(ctx, ns, pick(list, cluster))
		if err != nil {
			return err
		}
		if ok && len(body.Items) < maxStrategies {
			body.Items = append(body.Items, s)
		}
	}
	if len(body.Items) == 0 {
		return n.finished(ctx, job)
	}
	_, err = n.conclude(ctx, job, store.KindCompacted, body)
	return err
}

const maxStrategies = 8 // of one look

// successes are the newest successes of a sub-pool that are in no strategy and have their vectors, oldest first: of an
// agent's own pool the live ones, of the meta-pool those that may be a source.
func (n *Node) successes(v *store.View, ns *store.Namespace, job store.Job) ([]success, error) {
	fits := func(e *store.Experience) bool {
		if job.Owner == store.SharedOwner {
			return e.MayBeSource()
		}
		return e.Status == federation.StatusActive && e.Kind == federation.KindSuccess && e.Lineage.Lens != store.LensStrategy
	}
	var list []success
	var failed error
	err := v.Pool(ns, job.Owner, nil, func(_ []byte, e *store.Experience) bool {
		if e.TaskType != job.Extra || !fits(e) {
			return true
		}
		var known store.ID
		if known, failed = v.StrategyOf(ns, job.Owner, e.ID); failed == nil && known == (store.ID{}) {
			list = append(list, success{exp: e})
		}
		return failed == nil
	})
	if err != nil || failed != nil {
		return nil, orDefault(err, failed)
	}
	list = list[max(0, len(list)-compactRead):]
	for i := range list {
		vectors, err := v.VectorsOf(ns.Number, job.Owner, list[i].exp.ID)
		if err != nil {
			return nil, err
		}
		if vectors.Version == list[i].exp.Version {
			list[i].vectors = unpackAll(vectors)
		}
	}
	return slices.DeleteFunc(list, func(s success) bool { return len(s.vectors) != 2 }), nil
}

// sameSort reports whether two successes are of one kind: near in scenario and content, with the same tools and conditions,
// and neither says the opposite of the other. Numbers, names and values may differ.
func sameSort(a, b success) bool {
	profile, ok := embed.ProfileOf(a.vectors[0].Embedder)
	scenario, same := index.Cosine(a.vectors[0], b.vectors[0])
	content, too := index.Cosine(a.vectors[1], b.vectors[1])
	if !ok || !same || !too || profile.Common(scenario) < strategyScenario || profile.Common(content) < strategyContent {
		return false
	}
	if !slices.Equal(sorted(a.exp.Tools), sorted(b.exp.Tools)) {
		return false
	}
	for _, veto := range federation.Vetoes(side(a.exp), side(b.exp)) {
		switch veto {
		case federation.VetoNegation, federation.VetoOpposite, federation.VetoOrder, federation.VetoPreconditions, federation.VetoKind:
			return false
		}
	}
	return true
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// strategy writes what the sources have in common: by a model where one is set and its answer holds, else by rule.
func (n *Node) strategy(ctx context.Context, ns *store.Namespace, sources []success) (store.Strategy, bool, error) {
	text, by, err := n.strategyByModel(ctx, ns, sources)
	if err != nil {
		return store.Strategy{}, false, err
	}
	if by == "" {
		var ok bool
		if text, ok = compact.Write(compactSources(sources)); !ok {
			return store.Strategy{}, false, nil
		}
		by = compact.Generator
	}
	e := strategyOf(sources, text, by)
	out := store.Strategy{Experience: e}
	for _, s := range sources {
		out.Sources = append(out.Sources, store.Target{ID: s.exp.ID, Owner: s.exp.Owner, Version: s.exp.Version})
	}
	out.Vectors = packVectors(n.vectors(ctx, &e))
	return out, true, nil
}

func compactSources(sources []success) []compact.Source {
	out := make([]compact.Source, len(sources))
	for i, s := range sources {
		out[i] = compact.Source{Scenario: s.exp.Scenario, Content: s.exp.Content, Keywords: s.exp.Keywords}
	}
	return out
}

// strategyOf is the experience of a text. Its judge's score is the mean of its sources', its strength that of the least
// expected of them; it holds where and as long as all of them do.
func strategyOf(sources []success, text compact.Text, by string) store.Experience {
	first := sources[0].exp
	e := store.Experience{
		ID: ulid.Make(), Owner: first.Owner, Agent: first.Agent, Principal: first.Principal, Scenario: text.Scenario,
		Content: text.Content, Keywords: text.Keywords, Tools: text.Tools, TaskType: first.TaskType, Kind: federation.KindSuccess,
		Preconditions: first.Preconditions, Status: federation.StatusActive,
		Lineage: store.Lineage{Lens: store.LensStrategy, Generator: by},
	}
	for k, value := range first.Environment {
		everywhere := !slices.ContainsFunc(sources, func(s success) bool { return s.exp.Environment[k] != value })
		if everywhere {
			if e.Environment == nil {
				e.Environment = map[string]string{}
			}
			e.Environment[k] = value
		}
	}
	judged := federation.Micro(0)
	for _, s := range sources {
		judged += s.exp.Judge
		if max(s.exp.RPE, -s.exp.RPE) > max(e.RPE, -e.RPE) {
			e.RPE = s.exp.RPE
		}
		if until := s.exp.ValidUntil; until != 0 && (e.ValidUntil == 0 || until < e.ValidUntil) {
			e.ValidUntil = until
		}
	}
	e.Judge = judged / federation.Micro(len(sources))
	e.Strength = federation.InitialStrength(e.RPE)
	e.Hash = textHash(&e)
	return e
}

// strategyByModel lets the model that rewrites experiences for a task write the steps for their kind of task. by is empty
// where no model is set, or its answer does not hold: it names tools that no source has, or finds that the sources
// contradict each other, or the judge refuses it.
func (n *Node) strategyByModel(ctx context.Context, ns *store.Namespace, sources []success) (text compact.Text, by string, err error) {
	payer := llm.Caller{Namespace: ns.ID, Agent: sources[0].exp.Agent}
	in := llm.RecallInput{Task: sources[0].exp.Scenario}
	for _, s := range sources {
		in.Items = append(in.Items, llm.Item{
			ID: s.exp.ID.String(), Kind: string(s.exp.Kind), Scenario: s.exp.Scenario, Content: s.exp.Content, Confidence: score(s.exp.Confidence()),
		})
	}
	got, ok, err := askForJob(&n.models, llm.RoleRewrite, func() (llm.Rewritten, error) { return n.models.client.Rewrite(ctx, payer, in) })
	if err != nil || !ok || len(got.Conflicts) > 0 {
		return text, "", err
	}
	lines := make([]string, len(got.Steps))
	for i, s := range got.Steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, s.Text)
	}
	text = compact.Text{Scenario: sources[0].exp.Scenario, Content: strings.Join(lines, "\n"), Tools: sorted(sources[0].exp.Tools)}
	if rule, ok := compact.Write(compactSources(sources)); ok {
		text.Keywords = rule.Keywords
	} else {
		text.Keywords = sources[0].exp.Keywords
	}
	verdict, err := n.judgeStrategy(ctx, ns, payer, sources, text)
	if err != nil || !verdict.Admit {
		return text, "", err
	}
	return text, got.Generator, nil
}

// judgeStrategy asks the judge about a strategy that a model wrote; without one the rules decide.
func (n *Node) judgeStrategy(ctx context.Context, ns *store.Namespace, payer llm.Caller, sources []success, text compact.Text) (acquire.Verdict, error) {
	success, failure := 0, 0
	for _, s := range sources {
		success, failure = success+s.exp.Success, failure+s.exp.Failure
	}
	e := sources[0].exp
	profile := ns.Settings.TaskTypes[e.TaskType]
	got, ok, err := askForJob(&n.models, llm.RoleJudge, func() (llm.Verdict, error) {
		return n.models.client.Judge(ctx, payer, llm.JudgeInput{
			TaskType: e.TaskType, Task: e.Scenario, Scenario: text.Scenario, Content: text.Content, Tools: text.Tools,
			Successes: success, Failures: failure,
		})
	})
	if err != nil {
		return acquire.Verdict{}, err
	}
	if ok {
		return decided(acquire.Verdict{
			Actionability: got.Actionability, Accuracy: got.Accuracy, Relevance: got.Relevance, Clarity: got.Clarity, Uniqueness: got.Uniqueness,
		}, federation.KindSuccess, profile), nil
	}
	draft := acquire.Draft{
		Kind: federation.KindSuccess, Scenario: text.Scenario, Content: text.Content, Tools: text.Tools, Success: success, Failure: failure,
	}
	group := acquire.Group{TaskType: e.TaskType, Task: e.Scenario, Attempts: []acquire.Attempt{{}}}
	for _, tool := range text.Tools {
		group.Attempts[0].Steps = append(group.Attempts[0].Steps, acquire.Step{Tool: tool})
	}
	return decided(acquire.Judge(draft, group, 0, ""), federation.KindSuccess, profile), nil
}
