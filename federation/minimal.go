package federation

import "slices"

// Limits of the minimal pair: texts that agree in all but a few words differ on purpose.
const (
	minimalMost   = 2   // words replaced; twice as many Han characters
	minimalWhole  = 3   // times as many words in common as are replaced, in scenario and content together
	minimalPart   = 6   // the same in one of them while the other is worded anew
	minimalMiddle = 120 // longer differing stretches are no minimal pair
)

// sequence is a text as content words: stems and single Han characters in order.
func sequence(text string) []string {
	var list []string
	for _, t := range tokenize(digits(readable(text))) {
		switch t.kind {
		case tokenWord:
			if s := stem(t.lower); s != "" {
				list = append(list, s)
			}
		case tokenHan:
			for _, r := range t.text {
				if !hanParticles[r] {
					list = append(list, string(r))
				}
			}
		case tokenMark:
		}
	}
	return list
}

// minimalDiffers reports whether the texts, or scenario or content alone, are the same on both sides but for a word that is no
// synonym: Boston and Denver, window and aisle, 活期 and 定期.
func minimalDiffers(a, b facts) bool {
	if minimalPair(slices.Concat(a.sequences...), slices.Concat(b.sequences...), minimalWhole) {
		return true
	}
	for i := range a.sequences {
		if minimalPair(a.sequences[i], b.sequences[i], minimalPart) {
			return true
		}
	}
	return false
}

// minimalPair reports whether b is a with one stretch replaced, once or wherever it stands, and least times as
// many words in common.
func minimalPair(a, b []string, least float64) bool {
	if slices.Compare(a, b) > 0 {
		a, b = b, a // one of several alignments is found; it must not depend on the side
	}
	var shared float64
	for len(a) > 0 && len(b) > 0 && sameWord(a[0], b[0]) {
		shared += wordWeight(a[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && sameWord(a[len(a)-1], b[len(b)-1]) {
		shared += wordWeight(a[len(a)-1])
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 || len(a) > minimalMiddle || len(b) > minimalMiddle {
		return false
	}
	gaps := difference(a, b)
	first := gaps[0]
	if slices.ContainsFunc(gaps, func(g gap) bool { return !g.same(first) }) {
		return false
	}
	shared += weightOf(a) - float64(float64(len(gaps))*weightOf(first.left))
	size := max(weightOf(first.left), weightOf(first.right))
	return min(len(first.left), len(first.right)) > 0 && size <= minimalMost && shared >= float64(least*size)
}

func weightOf(words []string) float64 {
	var weight float64
	for _, word := range words {
		weight += wordWeight(word)
	}
	return weight
}

// wordWeight counts two Han characters as one word.
func wordWeight(word string) float64 {
	if hanOnly(word) {
		return .5
	}
	return 1
}

// gap is a place where two texts differ.
type gap struct{ left, right []string }

func (g gap) same(other gap) bool {
	return slices.Equal(g.left, other.left) && slices.Equal(g.right, other.right)
}

// difference returns the places outside the longest common subsequence of a and b, at least one.
func difference(a, b []string) []gap {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if sameWord(a[i], b[j]) {
				table[i][j] = table[i+1][j+1] + 1
			} else {
				table[i][j] = max(table[i+1][j], table[i][j+1])
			}
		}
	}
	gaps := []gap{{}}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		last := &gaps[len(gaps)-1]
		switch {
		case i < len(a) && j < len(b) && sameWord(a[i], b[j]):
			if len(last.left)+len(last.right) > 0 {
				gaps = append(gaps, gap{})
			}
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && table[i+1][j] >= table[i][j+1]:
			last.left = append(last.left, a[i])
			i++
		default:
			last.right = append(last.right, b[j])
			j++
		}
	}
	if last := gaps[len(gaps)-1]; len(gaps) > 1 && len(last.left)+len(last.right) == 0 {
		gaps = gaps[:len(gaps)-1]
	}
	return gaps
}

func sameWord(a, b string) bool { return a == b || synonyms(a, b) }

func synonyms(a, b string) bool {
	x, y := synonymGroup[a], synonymGroup[b]
	return x > 0 && x == y
}
