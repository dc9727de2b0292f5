package index

import "cairn/index/embed"

// relevance says what makes a hit relevant: Common + worth * Cover reaches pass. Texts of random words come as near to some text of
// a pool as true answers do, but not near and with words in common at once.
type relevance struct {
	pass  float64 // on the common scale
	worth float64
}

// coverWorth is what cover is worth where nothing else was found.
const coverWorth = .5

// relevances were chosen with `cairn-bench eval retrieval` on development data, and are measured on the same: texts of random
// words find less than with a floor of cosines, and some sets lose up to .01 of the true answers they kept; see DESIGN.md.
var relevances = map[string]relevance{
	embed.MiniLM: {.39, coverWorth},
	embed.E5:     {.32, 1},
}

func relevanceOf(p embed.Profile) relevance {
	if r, ok := relevances[p.ID]; ok {
		return r
	}
	return relevance{p.Common(p.Strict), coverWorth}
}

// relevant applies the floor. Nothing is relevant below the profile's Floor, unless the profile lets keyword hits pass it: they
// then need as much cover as a text that has nothing else to do with the query. A query without words is judged by the Floor alone.
func (s *search) relevant(h Hit, p embed.Profile) bool {
	if s.words.Empty() {
		return h.Cosine >= p.Floor
	}
	if h.Cosine < p.Floor && !p.KeywordPassesFloor {
		return false
	}
	r := relevanceOf(p)
	return max(h.Common, 0)+float64(r.worth*h.Cover) >= r.pass
}
