package federation

import (
	"slices"
	"strings"
)

// DedupeSide is one of two experiences that look alike.
type DedupeSide struct {
	Scenario      string
	Content       string
	Tools         []string
	Preconditions map[string]string
	Environment   map[string]string
	Kind          Kind   // empty: not compared
	TaskType      string // empty: not compared
}

// Codes of [Vetoes].
const (
	VetoKind          = "kind"          // one tells what to do, the other what to leave
	VetoTaskType      = "task_type"     // both name one, and not the same
	VetoTools         = "tools"         // both name tools, and none in common
	VetoPreconditions = "preconditions" // different preconditions
	VetoEnvironment   = "environment"   // different environments
	VetoNumbers       = "numbers"       // different numbers or amounts
	VetoDates         = "dates"         // different dates, times or weekdays
	VetoIDs           = "ids"           // different identifiers, paths, codes, addresses
	VetoQuoted        = "quoted"        // different quoted strings
	VetoNegation      = "negation"      // one side negated
	VetoNames         = "names"         // different proper names
	VetoValues        = "values"        // different members of one family: economy and business
	VetoOpposite      = "opposite"      // cheapest and most expensive
	VetoOrder         = "order"         // the same things in the opposite order or direction
	VetoMinimal       = "minimal"       // the same text but for one word that is no synonym
)

// Vetoes lists the reasons why a and b must not be merged however close they are, in the order of the codes
// above; none means that nothing speaks against it, not that they are the same. It is symmetric. The rules err
// towards keeping both: a false split costs a little room, a false merge loses knowledge.
func Vetoes(a, b DedupeSide) []string {
	var codes []string
	for _, check := range vetoChecks {
		if check.differs(a, b) {
			codes = append(codes, check.code)
		}
	}
	return codes
}

// vetoChecks holds the checks in the order of their codes. Each is symmetric.
var vetoChecks = []struct {
	code    string
	differs func(a, b DedupeSide) bool
}{
	{VetoKind, kindsDiffer},
	{VetoTaskType, taskTypesDiffer},
	{VetoTools, toolsDiffer},
	{VetoPreconditions, func(a, b DedupeSide) bool { return conditionsDiffer(a.Preconditions, b.Preconditions) }},
	{VetoEnvironment, func(a, b DedupeSide) bool { return conditionsDiffer(a.Environment, b.Environment) }},
}

func kindsDiffer(a, b DedupeSide) bool {
	return a.Kind != "" && b.Kind != "" && a.Kind.warns() != b.Kind.warns()
}

func taskTypesDiffer(a, b DedupeSide) bool {
	x, y := NormalizeText(a.TaskType), NormalizeText(b.TaskType)
	return x != "" && y != "" && x != y
}

// toolsDiffer reports whether both sides name tools and have none in common.
func toolsDiffer(a, b DedupeSide) bool {
	x, y := nameSet(a.Tools), nameSet(b.Tools)
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return !slices.ContainsFunc(x, func(tool string) bool { return slices.Contains(y, tool) })
}

// nameSet returns the distinct names that are not blank, normalised.
func nameSet(names []string) []string {
	var set []string
	for _, name := range names {
		if name = NormalizeText(name); name != "" {
			set = append(set, name)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// conditionsDiffer reports whether two sets of conditions are not the same, spelling aside. A condition that
// only one side has is a difference.
func conditionsDiffer(a, b map[string]string) bool {
	return !slices.Equal(conditionList(a), conditionList(b))
}

func conditionList(conditions map[string]string) []string {
	var list []string
	for key, value := range conditions {
		if key = NormalizeText(key); key != "" {
			list = append(list, strings.Join([]string{key, NormalizeText(value)}, "="))
		}
	}
	slices.Sort(list)
	return list
}
