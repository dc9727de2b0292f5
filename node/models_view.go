package node

import (
	"context"
	"net/url"

	"cairn/node/api"
	"cairn/node/llm"
	"cairn/node/store"
)

// Models shows which language models this node asks, without their keys, and what the caller's namespace spent.
func (n *Node) Models(_ context.Context, c api.Caller) (api.Models, error) {
	if !c.Has(api.RoleAdmin, api.RoleAuditor) {
		return api.Models{}, api.Denied("the role admin or auditor is needed")
	}
	v, ns, err := n.openFor(c)
	if err != nil {
		return api.Models{}, err
	}
	defer v.Close()
	opts := llm.Options{}
	if n.models.client != nil {
		opts = n.models.client.Settings()
	}
	out := api.Models{
		Roles: []api.ModelRole{}, Prompts: llm.PromptVersion, Parallel: opts.Parallel, Namespace: api.ModelBudget(opts.Namespace),
		Agent: api.ModelBudget(opts.Agent),
	}
	for _, role := range llm.Roles {
		out.Roles = append(out.Roles, n.renderRole(role, opts.Models[role]))
	}
	if out.Waiting, err = waitingJobs(v, ns); err != nil {
		return out, err
	}
	usage, err := llmStats(v, ns)
	if err == nil {
		out.Usage = *usage
	}
	return out, err
}

func (n *Node) renderRole(role llm.Role, m llm.Model) api.ModelRole {
	out := api.ModelRole{Role: string(role), Enabled: n.models.enabled(role)}
	if !out.Enabled {
		return out
	}
	out.Model, out.Endpoint, out.Schema = m.Name, hostOf(m.BaseURL), m.Schema
	out.Temperature, out.MaxTokens, out.MaxPrompt = float64(m.Temperature), m.MaxTokens, m.MaxPrompt
	out.TimeoutMS, out.Retries = m.Timeout.Milliseconds(), max(0, m.Retries)
	out.RestsForSeconds = max(0, n.models.resting(role).Seconds())
	return out
}

// hostOf is an endpoint without path and without what may be secret in an address.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// waitingJobs counts the jobs that were put back since what they need was out of reach.
func waitingJobs(v *store.View, ns *store.Namespace) (int, error) {
	waiting := 0
	err := v.Jobs(nil, func(_ []byte, j *store.Job) bool {
		if j.Namespace == ns.ID && j.Waits > 0 && j.Status == store.JobQueued {
			waiting++
		}
		return true
	})
	return waiting, err
}
