package refine

import "cairn/federation"

// Given is one experience of a recall as its receipt lists it. Rank counts from 0.
type Given struct {
	ID          string
	Version     int
	Rank        int
	Exploratory bool
}

// Credit is the share of an outcome that belongs to one experience: 1 when it was used, 0 when the report leaves it out,
// 1/(1+rank) when the report names nothing, and then 1 for the item of the exploratory slot.
type Credit struct {
	ID      string
	Version int
	Used    federation.Used
	Credit  federation.Micro
}

// Credits divides an outcome over the items of its recall, in the order of items. used lists the ids the agent says it
// used; nil means that it did not say, an empty list that it used none. unknown are the ids in used that were not in
// the recall, each once, in the order of the report; what to do about them is the caller's decision.
func Credits(items []Given, used *[]string) (credits []Credit, unknown []string) {
	named := make(map[string]bool)
	if used != nil {
		for _, id := range *used {
			named[id] = true
		}
	}
	credits = make([]Credit, 0, len(items))
	known := make(map[string]bool, len(items))
	for _, item := range items {
		known[item.ID] = true
		how := usedOf(item.ID, used != nil, named)
		credits = append(credits, Credit{
			ID: item.ID, Version: item.Version, Used: how,
			Credit: federation.Credit(how, item.Rank, item.Exploratory),
		})
	}
	return credits, strangers(used, known)
}

func usedOf(id string, reported bool, named map[string]bool) federation.Used {
	switch {
	case !reported:
		return federation.UsedUnknown
	case named[id]:
		return federation.UsedYes
	}
	return federation.UsedNo
}

func strangers(used *[]string, known map[string]bool) []string {
	if used == nil {
		return nil
	}
	var out []string
	seen := make(map[string]bool)
	for _, id := range *used {
		if !known[id] && !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
