package node

import (
	"maps"
	"slices"
	"strings"

	"cairn/federation"
	"cairn/node/api"
	"cairn/node/store"
)

const (
	dayMS      = 24 * hourMS
	hoursShown = 48
	daysShown  = 90
)

var sumNames, standingNames = store.SeriesNames()

// tally are the sums of a stretch of time, by the names of store.SeriesNames, with the levels at its end.
type tally map[string]int64

func (t tally) add(h *store.Hour) {
	for _, name := range sumNames {
		if n := h.Of(name); n != 0 {
			t[name] += n
		}
	}
	for _, name := range standingNames {
		t[name] = h.Of(name)
	}
}

// ratioNames are what ratios gives.
var ratioNames = []string{"hit_rate", "mean_utility", "mean_reward", "guided_reward", "unguided_reward", "duplicate_rate", "predictor_mse"}

// ratios are the monitors that follow from sums; one without a denominator is left out.
func (t tally) ratios() map[string]float64 {
	out := map[string]float64{}
	ratio(out, "hit_rate", t["recalls"]-t["recalls/empty"], t["recalls"])
	ratio(out, "mean_utility", t["helped"], t["given"])
	ratio(out, "mean_reward", t["outcomes/reward"], t["outcomes"]*federation.One)
	guided, unguided := t["outcomes/guided"], t["outcomes"]-t["outcomes/guided"]
	ratio(out, "guided_reward", t["outcomes/guided/reward"], guided*federation.One)
	ratio(out, "unguided_reward", t["outcomes/reward"]-t["outcomes/guided/reward"], unguided*federation.One)
	ratio(out, "duplicate_rate", t["merges"], t["merges"]+t["recorded"])
	ratio(out, "predictor_mse", t["predictor/square"], t["predictor/n"]*federation.One)
	return out
}

// series are the last hours and days up to the state's time.
func series(v *store.View, ns *store.Namespace) (hours, days api.Series, err error) {
	now := v.Now()
	today, hour := now/dayMS*dayMS, now/hourMS*hourMS
	byHour, byDay := newSteps(hour, hourMS, hoursShown), newSteps(today, dayMS, daysShown)
	err = v.Hours(ns, today-(daysShown-1)*dayMS, func(h *store.Hour) bool {
		byDay.add(h)
		byHour.add(h)
		return true
	})
	return byHour.render(), byDay.render(), err
}

// steps gathers hours into equal steps, the last of which begins at last.
type steps struct {
	first, step int64
	tallies     []tally
	before      *store.Hour // last hour before the first step, nil when nothing is known of then
	from        int         // first step of which something is known
}

func newSteps(last, step int64, n int) *steps {
	return &steps{first: last - int64(n-1)*step, step: step, tallies: make([]tally, n), from: n}
}

func (s *steps) add(h *store.Hour) {
	if h.Start < s.first {
		s.before, s.from = h, 0
		return
	}
	i := int((h.Start - s.first) / s.step)
	if i >= len(s.tallies) {
		return
	}
	if s.tallies[i] == nil {
		s.tallies[i] = tally{}
	}
	s.tallies[i].add(h)
	s.from = min(s.from, i)
}

func (s *steps) render() api.Series {
	out := api.Series{
		Step: int(s.step / 1000), Length: len(s.tallies) - s.from,
		Sums: map[string][]int64{}, Standing: map[string][]int64{}, Ratios: map[string][]*float64{},
	}
	if out.Length > 0 {
		out.From = api.Time(s.first + int64(s.from)*s.step)
	}
	last := tally{}
	if s.before != nil {
		last.add(s.before)
	}
	for _, t := range s.tallies[s.from:] {
		ratios := t.ratios()
		for _, name := range ratioNames {
			out.Ratios[name] = append(out.Ratios[name], known(ratios, name))
		}
		for _, name := range sumNames {
			if shown := shownName(name); shown != "" {
				out.Sums[shown] = append(out.Sums[shown], t[name])
			}
		}
		if t != nil {
			last = t
		}
		for _, name := range standingNames {
			out.Standing[shownName(name)] = append(out.Standing[shownName(name)], last[name])
		}
	}
	return out
}

func known(ratios map[string]float64, name string) *float64 {
	if r, ok := ratios[name]; ok {
		return &r
	}
	return nil
}

// shownName is a counter's name on the wire; those in micro-units are shown as ratios alone.
func shownName(name string) string {
	if strings.HasSuffix(name, "/reward") || strings.HasPrefix(name, "predictor/") || name == "outcomes/success" {
		return ""
	}
	return strings.ReplaceAll(name, "/", "_")
}

func llmStats(v *store.View, ns *store.Namespace) (*api.LLMStats, error) {
	spent, err := v.SpentBy(ns, "")
	if err != nil {
		return nil, err
	}
	out := &api.LLMStats{Lines: []api.LLMLine{}}
	if spent.Day == v.Now()/dayMS {
		out.TokensToday = spent.Today
	}
	for _, name := range slices.Sorted(maps.Keys(spent.Lines)) {
		role, model, _ := strings.Cut(name, " ")
		u := spent.Lines[name]
		out.Lines = append(out.Lines, api.LLMLine{
			Role: role, Model: model, Calls: u.Calls, Cached: u.Cached, Repairs: u.Repairs, Retries: u.Retries, Failed: u.Failed,
			Refused: u.Refused, Estimated: u.Estimated, PromptTokens: u.PromptTokens, AnswerTokens: u.AnswerTokens,
			ProviderCached: u.ProviderCached,
		})
	}
	return out, nil
}
