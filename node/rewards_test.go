package node

import (
	"context"
	"maps"
	"testing"

	"cairn/node/api"
)

// TestCompositeReward lets the task type's weights make one reward of its parts, and its threshold say what a success is.
func TestCompositeReward(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	threshold := .6
	_, err := s.node.UpdateSettings(context.Background(), s.admin, s.admin.Namespace, api.Settings{TaskTypes: map[string]api.TaskType{
		"airline": {SuccessThreshold: &threshold, RewardWeights: map[string]float64{"resolved": 3, "turns": 1}},
	}}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	settings, err := s.node.Settings(context.Background(), s.admin, s.admin.Namespace)
	if got := settings.TaskTypes["airline"].RewardWeights; err != nil || got["resolved"] != 3 || len(got) != 2 {
		t.Errorf("weights %v, %v", got, err)
	}
	req := booking("book a flight from AMS to LIS", true)
	req.Attempts[0].Reward, req.Attempts[0].RewardParts = nil, map[string]float64{"resolved": 1, "turns": .2, "sentiment": 0}
	rec := s.record(c, req)
	got, err := s.node.Trajectory(context.Background(), c, rec.ID)
	if err != nil {
		t.Fatal(err)
	}
	a := got.Attempts[0]
	if *a.Score != .8 || !*a.Success || !maps.Equal(a.RewardParts, req.Attempts[0].RewardParts) || *rec.Gate[0].Actual != .8 {
		t.Errorf("attempt %+v with score %v, gate %+v: want (3*1 + .2) / 4 and a success", a, *a.Score, rec.Gate[0])
	}
	for name, parts := range map[string]map[string]float64{
		"none that weighs": {"sentiment": 1}, "above 1": {"resolved": 1.1}, "empty": {}, "no name": {"": 1},
	} {
		bad := booking("book a flight from AMS to OPO", true)
		bad.Attempts[0].Reward, bad.Attempts[0].RewardParts = nil, parts
		if _, err := s.node.RecordTrajectory(context.Background(), c, bad, 0, api.Write{}); codeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	both := booking("book a flight from AMS to OPO", true)
	both.Attempts[0].RewardParts = map[string]float64{"resolved": 1}
	if _, err := s.node.RecordTrajectory(context.Background(), c, both, 0, api.Write{}); codeOf(err) != api.CodeInvalid {
		t.Errorf("parts beside a reward: %v", err)
	}
	for name, weights := range map[string]map[string]float64{"negative": {"resolved": -1}, "all zero": {"resolved": 0}} {
		_, err := s.node.UpdateSettings(context.Background(), s.admin, s.admin.Namespace, api.Settings{TaskTypes: map[string]api.TaskType{"x": {RewardWeights: weights}}}, api.Write{})
		if codeOf(err) != api.CodeInvalid {
			t.Errorf("weights %s: %v", name, err)
		}
	}
}

// TestConditionsKeepLessonsApart: what was learnt where somebody was logged in is not recalled for who says otherwise, and
// the same words under another condition are another lesson.
func TestConditionsKeepLessonsApart(t *testing.T) {
	s := newSite(t)
	c := s.agent("ann", "alice")
	in := s.record(c, booking("You are already logged in. "+task, true))
	if len(in.Experiences) == 0 || in.Experiences[0].Preconditions["logged_in"] != "true" {
		t.Fatalf("experiences %+v", in.Experiences)
	}
	if err := s.node.index.wait(context.Background(), in.Index); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{"true": true, "false": false} {
		got, err := s.node.Recall(context.Background(), c, api.RecallRequest{Task: task, TaskType: "airline", Environment: map[string]string{"logged_in": value}})
		if err != nil || (len(got.Experiences) > 0) != want {
			t.Errorf("logged_in=%s: %d recalled (%s), %v", value, len(got.Experiences), got.WhyEmpty, err)
		}
	}
}
