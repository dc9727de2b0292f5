package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// RewardInput is an attempt without a reward.
type RewardInput struct {
	TaskType string
	Task     string
	Steps    []Step
}

// Reward is a model's opinion of an attempt, evidence of kind "judge".
type Reward struct {
	Score     float64 // [0,1]
	Reason    string  // at most 300 characters
	Generator string
}

var rewardSchema = schema{"reward", json.RawMessage(`{"type":"object","additionalProperties":false,"required":["score","reason"],"properties":{"score":{"type":"number","minimum":0,"maximum":1},"reason":{"type":"string","maxLength":300}}}`)}

// Reward scores an attempt. Without a readable score it is ErrUnreadable: never a success and never a failure.
func (c *Client) Reward(ctx context.Context, who Caller, in RewardInput) (Reward, error) {
	language := languageOf(in.Task)
	var out Reward
	err := c.ask(ctx, question{
		who: who, role: RoleReward, schema: rewardSchema,
		prompt: func(maxChars int) (string, string, error) {
			return render(RoleReward, language, map[string]any{
				"TaskType": in.TaskType, "Task": limitText(in.Task, maxChars), "Steps": fit(in.Steps, maxChars*3/4),
			})
		},
		read: func(answer string) (err error) {
			out, err = readReward(answer)
			return err
		},
	})
	if err != nil {
		return Reward{}, fmt.Errorf("reward: %w", err)
	}
	out.Generator = c.generator(RoleReward, language)
	return out, nil
}

func readReward(answer string) (Reward, error) {
	var raw struct {
		Score  *float64 `json:"score"`
		Reason string   `json:"reason"`
	}
	if err := parse(answer, &raw); err != nil {
		return Reward{}, err
	}
	if raw.Score == nil || !unitRange(*raw.Score) {
		return Reward{}, errors.New("score is missing or not between 0 and 1")
	}
	return Reward{Score: *raw.Score, Reason: clip(raw.Reason, 300)}, nil
}
