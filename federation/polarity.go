package federation

import "slices"

// polarity is what a text denies and what it asserts.
type polarity struct {
	odd      int        // clauses negated once (or thrice)
	weak     int        // set aside without a negation
	until    int        // "X until Y" less "not X until Y"
	negated  [][]string // by clause, the words under a negation
	asserted []string   // words of clauses without one
}

// scopeWords is how far a negation reaches.
const scopeWords = 4

func polarityOf(sentences [][]sentenceUnit) polarity {
	var p polarity
	for _, sentence := range sentences {
		p.read(sentence)
	}
	return p
}

// read adds one sentence. "Never X without Y", "do not X until Y" and 未经X不Y ask for Y before X and negate
// nothing in the end: ordersOf keeps what they say.
func (p *polarity) read(sentence []sentenceUnit) {
	nots := countNots(sentence)
	if hasLink(sentence, "until") {
		p.until += 1 - 2*min(nots, 1)
	}
	if nots > 0 && (limited(sentence) || nots%2 == 0 && conditional(sentence)) {
		return
	}
	for _, clause := range clausesOf(sentence) {
		p.readClause(clause)
	}
}

func (p *polarity) readClause(clause []sentenceUnit) {
	if nots := countNots(clause); nots%2 == 1 && !needs(clause) || nots == 0 && hasLink(clause, "unless") {
		p.odd++
		at := slices.IndexFunc(clause, sentenceUnit.negates)
		p.negated = append(p.negated, firstWords(clause[max(at, 0):], scopeWords))
		return
	}
	for i, u := range clause {
		if u.kind == unitWeak {
			p.weak++
			p.asserted = append(p.asserted, allWords(clause[:i])...)
			return
		}
	}
	p.asserted = append(p.asserted, allWords(clause)...)
}

// negates reports whether u makes a negation; so does "without", which is also a link.
func (u sentenceUnit) negates() bool {
	return u.kind == unitNot || u.kind == unitLink && u.text == "without"
}

// needs reports whether a clause says that something fails without another: an explanation, no ban.
func needs(clause []sentenceUnit) bool {
	return hasLink(clause, "without") && slices.ContainsFunc(clause, func(u sentenceUnit) bool { return u.kind == unitWeak })
}

func countNots(units []sentenceUnit) (n int) {
	for _, u := range units {
		if u.negates() {
			n++
		}
	}
	return n
}

func hasLink(units []sentenceUnit, names ...string) bool {
	return slices.ContainsFunc(units, func(u sentenceUnit) bool {
		return u.kind == unitLink && slices.Contains(names, u.text)
	})
}

// limited reports whether a negation only holds until something has happened.
func limited(sentence []sentenceUnit) bool {
	return hasLink(sentence, "until", "unless", "before", "earlier", "required")
}

// conditional reports whether two negations of a sentence depend on each other.
func conditional(sentence []sentenceUnit) bool {
	return hasLink(sentence, "if", "without")
}

// clausesOf divides a sentence at commas.
func clausesOf(sentence []sentenceUnit) [][]sentenceUnit {
	var list [][]sentenceUnit
	start := 0
	for i, u := range sentence {
		if u.kind == unitComma {
			list = append(list, sentence[start:i])
			start = i + 1
		}
	}
	return append(list, sentence[start:])
}

func allWords(units []sentenceUnit) []string { return firstWords(units, len(units)) }

func firstWords(units []sentenceUnit, most int) []string {
	var words []string
	for _, u := range units {
		if u.kind == unitWord && len(words) < most {
			words = append(words, u.text)
		}
	}
	return words
}

// negationDiffers reports whether one side negates and the other does not, or one denies what the other asserts.
// Scenario and content are looked at apart: "the login fails" in the one does not answer "do not" in the other.
func negationDiffers(a, b facts) bool {
	for i := range a.polarity {
		x, y := a.polarity[i], b.polarity[i]
		if x.alone(y) || y.alone(x) || x.until*y.until < 0 || denies(x, y) || denies(y, x) {
			return true
		}
	}
	return false
}

// alone reports whether x negates more than y puts in weaker words while y negates nothing.
func (x polarity) alone(y polarity) bool { return y.odd == 0 && x.odd > y.weak }

// denies reports whether most of what a clause of x negates is asserted by y and negated nowhere in it, while x
// does not assert it too.
func denies(x, y polarity) bool {
	negated := slices.Concat(y.negated...)
	return slices.ContainsFunc(x.negated, func(clause []string) bool {
		var conflicts, own int
		for _, word := range clause {
			if slices.Contains(x.asserted, word) {
				continue
			}
			own++
			if slices.Contains(y.asserted, word) && !slices.Contains(negated, word) {
				conflicts++
			}
		}
		return conflicts >= 2 && 2*conflicts >= own
	})
}
