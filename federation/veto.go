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
	TaskType      string // empty: not compared, as when a principle may prove itself in several
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
	for _, check := range sideChecks {
		if check.differs(a, b) {
			codes = append(codes, check.code)
		}
	}
	if a.sameText(b) {
		return codes
	}
	x, y := factsOf(a), factsOf(b)
	for _, check := range textChecks {
		if check.differs(x, y) {
			codes = append(codes, check.code)
		}
	}
	return codes
}

// sameText reports whether both say the same in the same words; then no reading of them can tell them apart.
func (s DedupeSide) sameText(other DedupeSide) bool {
	return NormalizeText(s.Scenario) == NormalizeText(other.Scenario) &&
		NormalizeText(s.Content) == NormalizeText(other.Content)
}

// sideChecks compare what is written beside the text, in the order of their codes. Each is symmetric.
var sideChecks = []struct {
	code    string
	differs func(a, b DedupeSide) bool
}{
	{VetoKind, kindsDiffer},
	{VetoTaskType, taskTypesDiffer},
	{VetoTools, toolsDiffer},
	{VetoPreconditions, func(a, b DedupeSide) bool { return conditionsDiffer(a.Preconditions, b.Preconditions) }},
	{VetoEnvironment, func(a, b DedupeSide) bool { return conditionsDiffer(a.Environment, b.Environment) }},
}

// textChecks compare what the texts say, in the order of their codes. Each is symmetric.
var textChecks = []struct {
	code    string
	differs func(a, b facts) bool
}{
	{VetoNumbers, numbersDiffer},
	{VetoDates, func(a, b facts) bool { return lacks(a.dates, b.dates) || lacks(b.dates, a.dates) }},
	{VetoIDs, idsDiffer},
	{VetoQuoted, func(a, b facts) bool { return unsaid(a.quoted, b.quoted, &b) || unsaid(b.quoted, a.quoted, &a) }},
	{VetoNegation, negationDiffers},
	{VetoNames, namesDiffer},
	{VetoValues, func(a, b facts) bool { return familyDiffers(a, b, VetoValues) }},
	{VetoOpposite, func(a, b facts) bool { return familyDiffers(a, b, VetoOpposite) }},
	{VetoOrder, orderDiffers},
	{VetoMinimal, minimalDiffers},
}

// idsDiffer reports whether an identifier of one side is not said by the other. A side that names none may
// speak of the same things in words.
func idsDiffer(a, b facts) bool {
	return len(a.ids) > 0 && len(b.ids) > 0 && (unsaid(a.ids, b.ids, &b) || unsaid(b.ids, a.ids, &a))
}

// unsaid reports whether something of list is neither in other nor anywhere in the text of that side.
func unsaid(list, other []string, text *facts) bool {
	return slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(other, s) && !text.has(s) })
}

// namesDiffer reports whether each side names something that the other does not. A capital at the start of a
// sentence counts only against a sure name of the other side.
func namesDiffer(a, b facts) bool {
	sureA, sureB := unsaid(a.names, b.names, &b), unsaid(b.names, a.names, &a)
	maybeA, maybeB := unsaid(a.maybe, b.maybe, &b), unsaid(b.maybe, a.maybe, &a)
	return sureA && (sureB || maybeB) || sureB && maybeA || familyDiffers(a, b, VetoNames)
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
