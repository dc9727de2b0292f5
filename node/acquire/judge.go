package acquire

import (
	"regexp"
	"slices"
	"strings"

	"cairn/federation"
)

// Profiles of the judge.
const (
	ProfileDefault = "default"
	ProfileStrict  = "strict"
)

// Verdict is the judge's opinion of a draft: five dimensions and their mean, each in [0,1]. Admit is false when the mean is
// below the profile's threshold for the draft's kind or a dimension is below .1; Reason then names what was too low.
type Verdict struct {
	Actionability float64
	Accuracy      float64
	Relevance     float64
	Clarity       float64
	Uniqueness    float64
	Score         float64
	Admit         bool
	Reason        string
}

const (
	admitScore   = .3
	minDimension = .1
)

// Judge scores a draft by rules (section 1.5 of the rules of memory). nearest is the highest cosine on the common scale
// between the draft and an existing neighbour, 0 without one; a near copy lowers the score and never decides alone, since
// duplicates are merged, not refused. profile is ProfileDefault ("" too) or ProfileStrict.
func Judge(d Draft, g Group, nearest float64, profile string) Verdict {
	v := Verdict{
		Actionability: actionability(d),
		Accuracy:      accuracy(d, g),
		Relevance:     relevance(d, g),
		Clarity:       clarity(d),
		Uniqueness:    uniqueness(nearest),
	}
	return Decide(v, d.Kind, profile)
}

func threshold(profile string, kind federation.Kind) float64 {
	if profile != ProfileStrict {
		return admitScore
	}
	switch kind {
	case federation.KindSuccess:
		return .6
	case federation.KindContrast:
		return .5
	case federation.KindReflection:
		return .4
	}
	return .5
}

func (v Verdict) refusal(least float64) string {
	for _, dimension := range []struct {
		name  string
		value float64
	}{{"actionability", v.Actionability}, {"accuracy", v.Accuracy}, {"relevance", v.Relevance}, {"clarity", v.Clarity}, {"uniqueness", v.Uniqueness}} {
		if dimension.value < minDimension {
			return dimension.name
		}
	}
	if v.Score < least {
		return "score"
	}
	return ""
}

var (
	callText = regexp.MustCompile(`[\pL_][\pL\pN_.-]*\([^)]*\)`)
	doText   = regexp.MustCompile(`(?i)\b(?:use|call|avoid|do|start|give|check|wait|retry|set|search|read|open|try|never|always|first|instead|verify|ensure)\b|应当|避免|调用|使用|先|改用|若|不要|检查`)
	ifText   = regexp.MustCompile(`(?i)\b(?:if|when|before|after|until|unless|while|where|once)\b|若|当|之前|之后|如果|时`)
)

// actionability: something to do (a call or an imperative), and a condition for it, which the scenario gives too.
func actionability(d Draft) float64 {
	score := 0.0
	if callText.MatchString(d.Content) || strings.Contains(d.Content, "`") {
		score += .6
	} else if doText.MatchString(d.Content) {
		score += .4
	}
	if score > 0 && (ifText.MatchString(d.Content) || strings.TrimSpace(d.Scenario) != "") {
		score += .4
	}
	return score
}

// accuracy: every tool the draft names occurs in its source attempts; what supports it against what contradicts it.
func accuracy(d Draft, g Group) float64 {
	known := make(map[string]bool)
	for _, a := range g.Attempts {
		if !slices.Contains(d.Attempts, a.Number) && len(d.Attempts) > 0 {
			continue
		}
		for _, s := range a.Steps {
			known[collapse(s.Tool)] = true
		}
	}
	for _, tool := range d.Tools {
		if !known[tool] {
			return 0
		}
	}
	score := .6
	if len(d.Tools) > 0 {
		score = .8
	}
	return score + .2*supportShare(d)
}

// supportShare is the smoothed share of attempts that speak for the draft: successes, or failures where it warns.
func supportShare(d Draft) float64 {
	speakFor, against := float64(d.Success), float64(d.Failure)
	if d.Kind == federation.KindCaution || d.Kind == federation.KindFailure {
		speakFor, against = against, speakFor
	}
	return (speakFor + .5) / (speakFor + against + 1)
}

// relevance: how much of the scenario's topics come from the task.
func relevance(d Draft, g Group) float64 {
	if strings.TrimSpace(d.Scenario) == "" {
		return 0
	}
	have := tokens(g.Task + " " + g.TaskType)
	topics := tokens(withoutPlaceholders(d.Scenario))
	if len(topics) == 0 {
		return .5
	}
	found := 0
	for _, t := range topics {
		if slices.Contains(have, t) {
			found++
		}
	}
	return .4 + .6*float64(found)/float64(len(topics))
}

var template = regexp.MustCompile(`(?i)\{\{|\}\}|\bTODO\b|\bTBD\b|lorem ipsum|\[(?:tool|action|insert|your|name)[^\]]*\]|<insert|\bundefined\b|<nil>|%!|待填|占位`)

// clarity: length within bounds and no words left over from a template.
func clarity(d Draft) float64 {
	content, scenario := len([]rune(strings.TrimSpace(d.Content))), len([]rune(strings.TrimSpace(d.Scenario)))
	switch {
	case content < 8 || content > MaxContent || scenario > MaxScenario || template.MatchString(d.Content):
		return 0
	case content <= 400:
		return 1
	case content <= 1200:
		return .7
	}
	return .4
}

// uniqueness falls from 1 at cosine .5 to .15 for a copy.
func uniqueness(nearest float64) float64 {
	return 1 - .85*min(1, max(0, (nearest-.5)/.5))
}
