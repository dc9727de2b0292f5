package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cairn/cmd/cairn/world"
	"cairn/node/api"
	"cairn/web/client"
)

// namespace is the memory of one arm: a tenant of the site with the fleet enrolled in it.
type namespace struct {
	pools []string
	// share is the namespace's setting; offer is what agents ask for with what they record: in the shared namespace they
	// put up at once what worked, and leave it to the others to judge.
	share, offer string

	key    string // of its admin
	admin  *client.Client
	agents map[string]*client.Client
}

// prepare makes both namespaces. In the private one nothing is ever shared; in the shared one the liar's advice is out
// before anyone starts.
func (s *siteClient) prepare(ctx context.Context, adminKey string) (private, shared *namespace, err error) {
	admin, err := s.client(adminKey)
	if err != nil {
		return nil, nil, err
	}
	private = &namespace{pools: []string{"own"}, share: "never", offer: "never"}
	if err := s.open(ctx, admin, privateNamespace, private); err != nil {
		return nil, nil, fmt.Errorf("prepare %s: %w", privateNamespace, err)
	}
	shared = &namespace{pools: []string{"own", "meta"}, share: "auto", offer: "candidate"}
	if err := s.open(ctx, admin, sharedNamespace, shared); err != nil {
		return nil, nil, fmt.Errorf("prepare %s: %w", sharedNamespace, err)
	}
	if err := shared.publishHarm(ctx); err != nil {
		return nil, nil, fmt.Errorf("publish advice: %w", err)
	}
	return private, shared, nil
}

func (s *siteClient) open(ctx context.Context, admin *client.Client, id string, n *namespace) error {
	made, err := admin.CreateNamespace(ctx, api.CreateNamespace{ID: id})
	if err != nil {
		return err
	}
	if made.Value.AdminKey == nil {
		return errors.New("the site gave no admin key")
	}
	n.key = *made.Value.AdminKey
	if n.admin, err = s.client(n.key); err != nil {
		return err
	}
	if _, err := n.admin.UpdateSettings(ctx, id, api.Settings{Share: n.share}); err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	n.agents = map[string]*client.Client{}
	for _, a := range world.Fleet() {
		if n.agents[a.ID], err = s.enrol(ctx, n, a); err != nil {
			return fmt.Errorf("enrol %s: %w", a.ID, err)
		}
	}
	return nil
}

func (s *siteClient) enrol(ctx context.Context, n *namespace, a world.Agent) (*client.Client, error) {
	made, err := n.admin.CreateAgent(ctx, api.CreateAgent{
		ID: a.ID, Principal: a.Principal, Roles: []string{api.RoleAgent}, Tools: world.ToolNames(),
	})
	if err != nil {
		return nil, err
	}
	if made.Value.Key == nil {
		return nil, errors.New("the site gave no key")
	}
	return s.client(*made.Value.Key)
}

func (n *namespace) publishHarm(ctx context.Context) error {
	for _, a := range world.Fleet() {
		if !a.Liar {
			continue
		}
		for _, advice := range world.HarmfulAdvice() {
			_, err := n.agents[a.ID].AddExperience(ctx, api.AddExperience{
				Scenario: advice.Scenario, Content: advice.Content, TaskType: advice.TaskType, Tools: advice.Tools(), Share: "candidate",
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// planKinds are the kinds of experience that hold a plan; a scripted agent can follow no other.
var planKinds = []string{"success", "direct", "reflection"}

// Recall implements world.Memory.
func (n *namespace) Recall(ctx context.Context, a world.Agent, t world.Task) (world.Recall, error) {
	tools := make([]string, len(t.Tools))
	for i, tool := range t.Tools {
		tools[i] = tool.Name
	}
	ans, err := n.agents[a.ID].Recall(ctx, api.RecallRequest{
		Task: t.Text, TaskType: t.Type, GroupKey: t.ID, Pools: n.pools, Environment: t.Environment, Filters: api.RecallFilters{Tools: tools, Kind: planKinds},
	})
	if err != nil {
		return world.Recall{}, err
	}
	r := world.Recall{Receipt: ans.Receipt}
	for _, it := range ans.Experiences {
		r.Items = append(r.Items, item(it))
	}
	return r, nil
}

func item(r api.Recalled) world.Item {
	e := r.Experience
	it := world.Item{
		ID: e.ID, Content: e.Content, Exploratory: r.Exploratory, Recalled: e.Utility.Recalled, Helped: e.Utility.Helped,
	}
	if e.Trust != nil {
		it.Trust = &world.Trust{Low: e.Trust.Low, High: e.Trust.High, Trials: e.Trust.Trials}
	}
	return it
}

// Outcome implements world.Memory. A recall that gave nothing has no receipt to report on.
func (n *namespace) Outcome(ctx context.Context, a world.Agent, receipt string, o world.Outcome) error {
	if receipt == "" {
		return nil
	}
	_, err := n.agents[a.ID].Outcome(ctx, receipt, api.OutcomeRequest{
		Success: &o.Success, Reward: &o.Reward, Evidence: "verified", Used: &o.Used,
	})
	return err
}

// distilWait is how long an agent waits until its attempt has become memory, before it takes its next task.
const distilWait = 10 * time.Second

// Record implements world.Memory.
func (n *namespace) Record(ctx context.Context, a world.Agent, t world.Task, attempt world.Attempt) error {
	steps := make([]api.Step, len(attempt.Steps))
	for i, s := range attempt.Steps {
		args := make(map[string]any, len(s.Call.Args))
		for name, v := range s.Call.Args {
			args[name] = v
		}
		steps[i] = api.Step{Tool: s.Call.Tool, Args: args, Observation: s.Observation.Text}
	}
	_, err := n.agents[a.ID].RecordTrajectory(ctx, api.RecordTrajectory{
		GroupKey: t.ID, Complete: true, Share: n.offer, Task: t.Text, TaskType: t.Type, Environment: t.Environment,
		Attempts: []api.Attempt{{Steps: steps, Reward: &attempt.Reward, Success: &attempt.Success, Receipt: attempt.Receipt}},
	}, distilWait)
	return err
}
