package store

// maxSpendLines bounds the lines of one Spend and of one Spent.
const maxSpendLines = 64

// Spend books what questions to language models cost since the last booking.
type Spend struct {
	Lines []SpendLine `cbor:"1,keyasint"` // at most 64
}

// SpendLine is what one agent spent in one role with one model.
type SpendLine struct {
	Agent string `cbor:"1,keyasint"`
	Role  string `cbor:"2,keyasint"`
	Model string `cbor:"3,keyasint"`
	Use   LLMUse `cbor:"4,keyasint"`
}

// LLMUse counts questions and tokens. Answers from Cairn's own cache cost nothing and are in Cached alone.
type LLMUse struct {
	Calls          int64 `cbor:"1,keyasint,omitempty"`
	Cached         int64 `cbor:"2,keyasint,omitempty"`
	Repairs        int64 `cbor:"3,keyasint,omitempty"`
	Retries        int64 `cbor:"4,keyasint,omitempty"`
	Failed         int64 `cbor:"5,keyasint,omitempty"`
	Refused        int64 `cbor:"6,keyasint,omitempty"`
	Estimated      int64 `cbor:"7,keyasint,omitempty"`
	PromptTokens   int64 `cbor:"8,keyasint,omitempty"`
	AnswerTokens   int64 `cbor:"9,keyasint,omitempty"`
	ProviderCached int64 `cbor:"10,keyasint,omitempty"`
}

// Tokens is what counts against a budget.
func (u LLMUse) Tokens() int64 { return u.PromptTokens + u.AnswerTokens }

func (u *LLMUse) add(o LLMUse) {
	u.Calls += o.Calls
	u.Cached += o.Cached
	u.Repairs += o.Repairs
	u.Retries += o.Retries
	u.Failed += o.Failed
	u.Refused += o.Refused
	u.Estimated += o.Estimated
	u.PromptTokens += o.PromptTokens
	u.AnswerTokens += o.AnswerTokens
	u.ProviderCached += o.ProviderCached
}

// Spent is what a namespace or an agent spent: on the UTC day of the last booking, and ever, by role and model.
type Spent struct {
	Day   int64             `cbor:"1,keyasint"` // since 1970
	Today int64             `cbor:"2,keyasint"` // tokens
	At    int64             `cbor:"3,keyasint"` // last booking, Unix ms
	Lines map[string]LLMUse `cbor:"4,keyasint,omitempty"`
}

func (t *txn) spentKey(agent string) keyBuf { return nsKey(kindSpent, t.ns.Number).str(agent) }

func applySpend(t *txn, b *Spend) (any, *Reject) {
	if len(b.Lines) > maxSpendLines {
		return nil, rejectField("body.lines", "at most 64 lines")
	}
	for _, line := range b.Lines {
		t.book("", line)
		t.countSpend(line.Use)
		if line.Agent != "" {
			t.book(line.Agent, line)
		}
	}
	return struct{}{}, nil
}

// countSpend counts for the series of the namespace.
func (t *txn) countSpend(u LLMUse) {
	t.count("llm/calls", u.Calls)
	t.count("llm/tokens", u.Tokens())
	t.count("llm/cached", u.Cached)
	t.count("llm/failed", u.Failed)
	t.count("llm/refused", u.Refused)
}

// book adds a line to one payer's account. A role and model beyond the bound counts under the role alone.
func (t *txn) book(payer string, line SpendLine) {
	var s Spent
	t.get(t.spentKey(payer), &s)
	if today := t.now / day; s.Day != today {
		s.Day, s.Today = today, 0
	}
	s.Today += line.Use.Tokens()
	s.At = t.now
	if s.Lines == nil {
		s.Lines = map[string]LLMUse{}
	}
	name := line.Role + " " + line.Model
	if _, ok := s.Lines[name]; !ok && len(s.Lines) >= maxSpendLines {
		name = line.Role
	}
	sum := s.Lines[name]
	sum.add(line.Use)
	s.Lines[name] = sum
	t.put(t.spentKey(payer), s)
}

// SpentBy is what an agent spent, or the whole namespace for the empty agent; zero when it spent nothing.
func (v *View) SpentBy(ns *Namespace, agent string) (Spent, error) {
	var s Spent
	_, err := v.get(nsKey(kindSpent, ns.Number).str(agent), &s)
	return s, err
}
