package node

import (
	"fmt"

	"cairn/node/acquire"
	"cairn/node/api"
	"cairn/node/recall"
)

const (
	maxMessages = 200
	maxMessage  = 32_000 // characters
)

// fromMessages makes the task of a conversation, where one is given instead.
func (r *recalling) fromMessages() error {
	if len(r.req.Messages) == 0 {
		return nil
	}
	if r.req.Task != "" {
		return api.Invalid("body.messages", "goes instead of body.task, not with it", len(r.req.Messages))
	}
	if len(r.req.Messages) > maxMessages {
		return api.Invalid("body.messages", fmt.Sprintf("must have at most %d entries", maxMessages), len(r.req.Messages))
	}
	var turns []recall.Message
	for i, m := range r.req.Messages {
		at := fmt.Sprintf("body.messages[%d]", i)
		err := firstError(
			checkChoice(at+".role", m.Role, "system", "developer", "user", "assistant", "tool", "function"),
			checkText(at+".content", m.Content, maxMessage, false),
		)
		if err != nil {
			return err
		}
		turns = append(turns, recall.Message{Role: m.Role, Content: withoutRecalled(m.Content)})
	}
	task, context := recall.Query(turns)
	if task == "" {
		return api.Invalid("body.messages", "must have a turn of the role user with a text of its own", nil)
	}
	r.req.Task = firstRunes(task, maxTask)
	if r.req.Context == "" {
		r.req.Context = firstRunes(context, maxTask)
	}
	return nil
}

// withoutRecalled takes out of a text what a recall rendered: a memory that is put into a prompt does not ask for itself.
func withoutRecalled(text string) string {
	clean := acquire.Cleaned(acquire.Attempt{Steps: []acquire.Step{{Thought: text}}})
	if len(clean) == 0 {
		return ""
	}
	return clean[0].Thought
}

func firstRunes(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(len(runes), n)])
}

// routed is the task type to which the tasks of the agent that are most like this one belong; nil where the request names
// one, or nothing is known.
func (r *recalling) routed(q question) *api.Route {
	if r.req.TaskType != "" || r.req.Filters.TaskType != "" || q.vector.IsZero() {
		return nil
	}
	route := r.n.index.router.Route(predictorAgent(r.ns.Number, r.agent.Number), q.vector)
	if route.TaskType == "" {
		return nil
	}
	r.out.Route = &api.Route{TaskType: route.TaskType, Share: route.Share, Followed: !route.Weak()}
	return r.out.Route
}
