package client

import (
	"net/http"
	"testing"
)

func TestStatsAreReadAsTheyAreSent(t *testing.T) {
	c := start(t, func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]string{
			"/v1/stats":           `{"hours":{"from":"2026-01-01T00:00:00.000Z","step_seconds":3600,"length":2,"sums":{"recalls":[3,0]},"ratios":{"hit_rate":[0.5,null]}},"llm":{"lines":[{"role":"judge","calls":4}]}}`,
			"/v1/stats/predictor": `{"attempts":2,"mse":0.25,"mse_7d":null,"sources":[{"source":"mean","attempts":2,"mse":0.25}]}`,
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	})
	s, err := c.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	hit := s.Hours.Ratios["hit_rate"]
	if s.Hours.Length != 2 || s.Hours.Sums["recalls"][0] != 3 || len(hit) != 2 || *hit[0] != .5 || hit[1] != nil || s.LLM.Lines[0].Calls != 4 {
		t.Errorf("stats are %+v", s)
	}
	p, err := c.PredictorStats(t.Context())
	if err != nil || p.Attempts != 2 || p.MSE == nil || *p.MSE != .25 || p.Recent != nil || p.Sources[0].Source != "mean" {
		t.Errorf("predictor is %+v, %v", p, err)
	}
}
