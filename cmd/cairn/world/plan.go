package world

import (
	"slices"
	"strings"
)

// Call is one tool call. A value of the form <name> stands for the task's value of that name.
type Call struct {
	Tool string
	Args map[string]string
}

// Plan is a sequence of calls in the order in which they are made.
type Plan []Call

// String renders the plan as `tool(arg="value", other=<placeholder>) -> tool2(...)` with the arguments in alphabetical
// order; it is the form that ParsePlan reads.
func (p Plan) String() string {
	calls := make([]string, len(p))
	for i, c := range p {
		calls[i] = c.String()
	}
	return strings.Join(calls, " -> ")
}

// String renders the call in the form of Plan.String.
func (c Call) String() string {
	names := make([]string, 0, len(c.Args))
	for name := range c.Args {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = name + "=" + quote(c.Args[name])
	}
	return c.Tool + "(" + strings.Join(names, ", ") + ")"
}

func quote(value string) string {
	if _, ok := placeholder(value); ok {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// placeholder gives the name inside <name>.
func placeholder(value string) (string, bool) {
	if len(value) < 3 || value[0] != '<' || value[len(value)-1] != '>' {
		return "", false
	}
	return value[1 : len(value)-1], true
}
