package web

import (
	"math"
	"strconv"
	"strings"
	"time"

	"cairn/node/api"
)

// The parts of which the inputs of the calls are made. They are exported because huma reads no other embedded fields.

// ReadParams is how fresh an answer must be.
type ReadParams struct {
	Consistency string `query:"consistency" enum:"local,session,linear" doc:"How fresh the answer must be"`
	Index       uint64 `header:"Cairn-Index" doc:"Session token: the answer includes everything up to this index, or 503 after 5 s"`
}

func (p *ReadParams) wish() api.Read { return api.Read{Consistency: p.Consistency, Index: p.Index} }

// PageParams is a place in a list.
type PageParams struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Entries a page"`
	Cursor string `query:"cursor" maxLength:"1024" pattern:"^[A-Za-z0-9._~:=-]+$" doc:"next_cursor of the page before"`
}

func (p *PageParams) page() api.Page { return api.Page{Limit: p.Limit, Cursor: p.Cursor} }

// WriteParams go with every write. The header itself is read on the way in; here it is described.
type WriteParams struct {
	IdempotencyKey string `header:"Idempotency-Key" minLength:"1" maxLength:"128" pattern:"^[!-~]+$" doc:"Makes a repeat give the first answer"`
}

// IDParam is the id of what a call is about.
type IDParam struct {
	ID string `path:"id" minLength:"1" maxLength:"128" pattern:"^[A-Za-z0-9._-]+$"`
}

// MatchParam is the version a change was made for.
type MatchParam struct {
	IfMatch string `header:"If-Match" maxLength:"64" doc:"The version being changed, in quotes; GET shows it as ETag. Without it: 412"`
}

// FilterParams narrow a list of experiences.
type FilterParams struct {
	TaskType string  `query:"task_type" maxLength:"64" pattern:"^[\\p{L}\\p{M}\\p{Nd}._-]+$"`
	Agent    string  `query:"agent" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" doc:"Author"`
	Kind     string  `query:"kind" enum:"success,failure,contrast,tool_use,reflection,caution,direct"`
	Status   string  `query:"status" enum:"active,buffered,candidate,promoted,demoted,dormant,held,quarantined,archived,revoked,superseded"`
	Tool     string  `query:"tool" maxLength:"128"`
	MinTrust float64 `query:"min_trust" minimum:"0" maximum:"1"`
	Q        string  `query:"q" maxLength:"1000" doc:"Words"`
	RPE      string  `query:"rpe" enum:"positive,negative" doc:"Sign of the reward prediction error"`
	Since    string  `query:"since" format:"date-time"`
	Until    string  `query:"until" format:"date-time"`
}

// filter makes the service's filter. A NaN passes every comparison of the schema and is refused here.
func (p *FilterParams) filter(pool string, page api.Page) (api.ListFilter, error) {
	if math.IsNaN(p.MinTrust) {
		return api.ListFilter{}, invalid("query.min_trust", "must be a number from 0 to 1", nil)
	}
	return api.ListFilter{
		Pool: pool, Agent: p.Agent, TaskType: p.TaskType, Kind: p.Kind, Status: p.Status, Tool: p.Tool,
		MinTrust: p.MinTrust, Q: p.Q, RPE: p.RPE, Since: p.Since, Until: p.Until, Page: page,
	}, nil
}

// version reads If-Match: 0 when it is absent, which the service refuses once it knows that the caller may see the item.
func (p *MatchParam) version() (int, error) {
	if p.IfMatch == "" {
		return 0, nil
	}
	text := strings.TrimSpace(p.IfMatch)
	if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 || text[0] == '+' {
		return 0, problem(api.CodePrecondition, `If-Match must be the version in quotes, as in "3"`,
			field("header.If-Match", "is not a version", nil))
	}
	return int(n), nil
}

// etag is a version as an entity tag.
func etag(version int) string { return strconv.Quote(strconv.Itoa(version)) }

// waitOf reads ?wait.
func waitOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Minute {
		return 0, invalid("query.wait", "must be a duration from 0s to 60s, as in 10s", text)
	}
	return d, nil
}

// blank refuses texts of spaces and invisible characters, which a minimum length lets through.
func blank(texts ...text) error {
	for _, t := range texts {
		if t.value != nil && !strings.ContainsFunc(*t.value, visible) {
			return invalid(t.location, "must not be blank", nil)
		}
	}
	return nil
}

// text is a string of a body and where it stands; nil is an absent one.
type text struct {
	location string
	value    *string
}
