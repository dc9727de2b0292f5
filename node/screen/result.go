package screen

import "context"

// Kind is the class of a finding.
type Kind string

// The kinds of finding.
const (
	Secret      Kind = "secret"      // keys, tokens, passwords
	Personal    Kind = "personal"    // e-mail, phone, cards, accounts, national ids, addresses of machines
	Instruction Kind = "instruction" // orders to the model that reads the text
	Hidden      Kind = "hidden"      // characters that are not seen, or look like others
)

// Action is what a finding asks for.
type Action string

// The actions, from mildest to strictest.
const (
	Pass       Action = "pass"
	Redact     Action = "redact"     // replace the span; the rest may be shared
	Quarantine Action = "quarantine" // do not share until a person has looked
)

// Finding is one place in a text. Start and End are byte offsets into the text that was screened, End exclusive.
type Finding struct {
	Field  string // which field of an experience, set by Fields: scenario, content, keywords[0]...
	Kind   Kind
	Rule   string // short stable name, e.g. "email", "aws_key", "override"
	Start  int
	End    int
	Action Action
}

// Result is the outcome of screening: the strictest action of its findings, and the text with every span to redact
// replaced by [redacted:<rule>] and hidden characters removed. Findings are in order of position and do not overlap
// except that an instruction may enclose others.
type Result struct {
	Action   Action
	Text     string
	Findings []Finding
}

// Fielded is the outcome of screening the fields of an experience.
type Fielded struct {
	Action   Action
	Scenario string
	Content  string
	Keywords []string
	Findings []Finding
}

// Screener is what decides about sharing. Rules is the built-in one; an external service can stand in its place. An
// error means that nothing is known: a caller must then not share, and may keep the text in a private pool.
type Screener interface {
	Screen(ctx context.Context, scenario, content string, keywords []string) (Fielded, error)
}

// Rules is the built-in Screener. It never fails and does not wait, so that it ignores its context.
type Rules struct{}

// Screen implements Screener.
func (Rules) Screen(_ context.Context, scenario, content string, keywords []string) (Fielded, error) {
	return Fields(scenario, content, keywords), nil
}

func stricter(a, b Action) Action {
	if severity(b) > severity(a) {
		return b
	}
	return a
}

func severity(a Action) int {
	switch a {
	case Quarantine:
		return 2
	case Redact:
		return 1
	}
	return 0
}
