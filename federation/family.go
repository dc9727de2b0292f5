package federation

import (
	"cmp"
	"slices"
	"strings"
)

// family is a list of values of which one excludes the others. A member is a list of ways to say it, in English
// words or Han.
type family struct {
	code    string // [VetoOpposite] or [VetoValues]
	members []string
}

// phrase is one way to say a member.
type phrase struct {
	text           string // padded with spaces unless it is Han
	family, member int
}

// phrases holds every way to say a member, longest first so that 不超过 is not read as 超过.
var phrases = func() (list []phrase) {
	for f, family := range families {
		for m, ways := range family.members {
			for way := range strings.SplitSeq(ways, "|") {
				if !hanOnly(way) {
					way = " " + way + " "
				}
				list = append(list, phrase{text: way, family: f, member: m})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b phrase) int { return cmp.Compare(len(b.text), len(a.text)) })
	return list
}()

// membersOf returns for each family the members that occur in flat text, ascending.
func membersOf(flat string) [][]int {
	found := make([][]int, len(families))
	for _, phrase := range phrases {
		if !strings.Contains(flat, phrase.text) {
			continue
		}
		// The place is taken, but not the spaces around it, which the next phrase may need.
		flat = strings.ReplaceAll(flat, phrase.text, "  ")
		found[phrase.family] = append(found[phrase.family], phrase.member)
	}
	for f := range found {
		slices.Sort(found[f])
		found[f] = slices.Compact(found[f])
	}
	return found
}

// familyDiffers reports whether each side names a member of one family that the other does not.
func familyDiffers(a, b facts, code string) bool {
	for f, family := range families {
		if family.code == code && bothUnique(a.members[f], b.members[f]) {
			return true
		}
	}
	return false
}

// bothUnique reports whether each list has something that the other lacks.
func bothUnique[T comparable](a, b []T) bool { return lacks(a, b) && lacks(b, a) }

// lacks reports whether something of list is not in other.
func lacks[T comparable](list, other []T) bool {
	return slices.ContainsFunc(list, func(x T) bool { return !slices.Contains(other, x) })
}
