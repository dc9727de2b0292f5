package federation

import "slices"

// Bounds of what is read for the order of things. Texts of people stay far below; a text made of links alone
// would cost the square of its length.
const (
	maxRelations = 64
	maxReach     = 64 // units of a sentence on each side of a link
)

// relation says that what is in first comes before what is in second, or is required by it. Without words on
// both sides it says nothing.
type relation struct{ first, second []string }

// ordersOf reads "X before Y", "after Y, X", "first X, then Y", "never X without Y", "from X to Y", 先X再Y, X之前Y
// and the like.
func ordersOf(sentences [][]sentenceUnit) []relation {
	list := []relation{directionOf(sentences)}
	var previous []sentenceUnit
	for _, sentence := range sentences {
		for i, u := range sentence {
			if u.kind == unitLink && len(list) < maxRelations {
				left, right := tail(sentence[:i]), sentence[i+1:]
				right = right[:min(len(right), maxReach)]
				list = append(list, relationOf(u.text, left, right, previous).distinct())
			}
		}
		if len(allWords(sentence)) > 0 {
			previous = tail(sentence)
		}
	}
	return slices.DeleteFunc(list, func(r relation) bool { return len(r.first) == 0 || len(r.second) == 0 })
}

func tail(units []sentenceUnit) []sentenceUnit { return units[max(0, len(units)-maxReach):] }

// relationOf reads one link between what stands left and right of it. Links of Han text mostly stand behind what
// they bind: Y之前X, Y之后X; some open a sentence: 除非Y否则不X, 未经Y不X.
func relationOf(link string, left, right, previous []sentenceUnit) relation {
	x, y := allWords(left), allWords(right)
	negated := countNots(left)%2 == 1
	switch link {
	case "then":
		return stepOf(left, right, previous)
	case "before":
		if len(x) == 0 {
			return opening(right)
		}
		return relation{x, y}.flipped(negated)
	case "after":
		if len(x) == 0 {
			return opening(right).flipped(true)
		}
		return relation{y, x}.when(countNots(left) == 0)
	case "until", "unless", "without":
		return relation{y, x}.when(negated)
	case "only":
		return relation{y, x}
	case "first":
		return relation{lastClause(left), y}
	case "earlier":
		return relation{y, lastClause(left)}.flipped(countNots(right)%2 == 1)
	case "later":
		return relation{lastClause(left), y}.when(countNots(right) == 0)
	case "required":
		return opening(right).flipped(countNots(right)%2 == 0)
	}
	return relation{}
}

// stepOf reads X then Y: the step before, at most back to another "then" or the sentence before, and the step
// after.
func stepOf(left, right, previous []sentenceUnit) relation {
	for len(left) > 0 && isThen(left[len(left)-1]) {
		left = left[:len(left)-1]
	}
	for len(right) > 0 && isThen(right[0]) {
		right = right[1:]
	}
	for i := len(left) - 1; i >= 0; i-- {
		if isThen(left[i]) {
			left = left[i+1:]
			break
		}
	}
	if i := slices.IndexFunc(right, isThen); i >= 0 {
		right = right[:i]
	}
	if len(allWords(left)) == 0 {
		left = previous
	}
	return relation{allWords(left), allWords(right)}
}

func isThen(u sentenceUnit) bool { return u.kind == unitLink && u.text == "then" }

// opening splits "before Y, X": X comes first. A negation of X turns it round.
func opening(right []sentenceUnit) relation {
	clauses := clausesOf(right)
	if len(clauses) < 2 {
		return relation{}
	}
	rest := right[len(clauses[0])+1:]
	return relation{allWords(rest), allWords(clauses[0])}.flipped(countNots(rest)%2 == 1)
}

// lastClause returns the words since the last comma.
func lastClause(units []sentenceUnit) []string {
	clauses := clausesOf(units)
	for i := len(clauses) - 1; i >= 0; i-- {
		if words := allWords(clauses[i]); len(words) > 0 {
			return words
		}
	}
	return nil
}

func (r relation) flipped(flip bool) relation {
	if flip {
		return relation{r.second, r.first}
	}
	return r
}

// when keeps the relation only if it holds.
func (r relation) when(holds bool) relation {
	if holds {
		return r
	}
	return relation{}
}

// distinct drops the words that are on both sides: they say nothing about the order.
func (r relation) distinct() relation {
	return relation{without(r.first, r.second), without(r.second, r.first)}
}

// orderDiffers reports whether the two texts put the same things in opposite orders, or send them in opposite
// directions.
func orderDiffers(a, b facts) bool {
	return slices.ContainsFunc(a.orders, func(x relation) bool { return slices.ContainsFunc(b.orders, x.opposes) })
}

// opposes reports whether something that r puts first comes second in the other, and the reverse.
func (r relation) opposes(other relation) bool {
	return common(r.first, other.second) && common(r.second, other.first)
}

// directionOf relates the words after "from" to those after "to" (从, 到).
func directionOf(sentences [][]sentenceUnit) relation {
	var r relation
	for _, sentence := range sentences {
		for i, u := range sentence {
			if u.kind != unitLink || len(r.first)+len(r.second) > maxReach {
				continue
			}
			switch u.text {
			case "from":
				r.first = append(r.first, near(sentence[i+1:])...)
			case "to":
				r.second = append(r.second, near(sentence[i+1:])...)
			}
		}
	}
	return r.distinct()
}

// near returns what a direction takes: the next word, or two pairs of Han characters.
func near(units []sentenceUnit) []string {
	end := slices.IndexFunc(units, func(u sentenceUnit) bool { return u.kind != unitWord })
	if end < 0 {
		end = len(units)
	}
	reach := 1
	if end > 0 && hanOnly(units[0].text) {
		reach = 2
	}
	return firstWords(units, min(end, reach))
}

func without(list, other []string) []string {
	var rest []string
	for _, word := range list {
		if !slices.Contains(other, word) {
			rest = append(rest, word)
		}
	}
	return rest
}

// common reports whether the lists share a word.
func common(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}
