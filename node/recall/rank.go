package recall

import (
	"cmp"
	"math"
	"slices"

	"cairn/index"
	"cairn/index/embed"
)

// Rank chooses and orders what a recall returns. ordinary are items of the caller's own pool and of the meta-pool, shelf
// the candidates on whose jury the caller's principal sits; both have passed the hard filters.
//
// An item's raw value is (common cosine + weighted keyword part) * (.8 + .4 strength) * (.8 + .4 trust). What is below the
// relevance floor is dropped. Items of the gate's buffer come in only when no other ordinary one is above the floor. The
// choice is by maximal marginal relevance with at most AuthorCap items of one foreign principal; the result is ordered by
// raw value, then by id. With Explore and K >= 3 the last place goes to the shelf candidate with the best cosine + Mu,
// among equals to the one that waits longest; where the shelf has none above the floor and Coin < Epsilon, to an own item
// with few uses and a small prediction error. Floor and filters hold for it; diversity, cap and priors do not. The budget
// cuts from the end and never the first.
func Rank(ordinary, shelf []Candidate, o Options) (out []Ranked, omitted []Omitted) {
	if o.K <= 0 {
		o.K = DefaultK
	}
	above, below := split(ordinary)
	tried, belowShelf := split(shelf)
	omitted = append(below, belowShelf...)
	pool := fallback(above)
	out = append(out, choose(pool, tried, o)...)
	omitted = append(omitted, displaced(pool, out, o)...)
	out, cut := withinBudget(out, o.TokenBudget)
	for i := range out {
		out[i].Rank = i
	}
	return out, append(omitted, cut...)
}

// split computes raw values, drops what is below the floor and sorts the rest by raw value, then id.
func split(list []Candidate) (above []Ranked, below []Omitted) {
	for _, c := range list {
		raw := rawOf(c)
		if !c.Hit.AboveFloor || math.IsNaN(raw) {
			below = append(below, Omitted{c.ID, OmittedFloor})
			continue
		}
		above = append(above, Ranked{Candidate: c, Raw: raw, Score: min(1, max(0, raw))})
	}
	slices.SortFunc(above, byRaw)
	slices.SortFunc(below, func(a, b Omitted) int { return cmp.Compare(a.ID, b.ID) })
	return above, below
}

func byRaw(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Raw, a.Raw), cmp.Compare(a.ID, b.ID))
}

func rawOf(c Candidate) float64 {
	return c.Hit.Score * (.8 + .4*unit(c.Strength)) * (.8 + .4*unit(c.Trust))
}

func unit(x float64) float64 { return min(1, max(0, x)) }

// fallback keeps buffered items out unless there is nothing else.
func fallback(above []Ranked) []Ranked {
	settled := slices.DeleteFunc(slices.Clone(above), func(r Ranked) bool { return r.Buffered })
	if len(settled) > 0 {
		return settled
	}
	return above
}

// choose fills the places: ordinary ones by diversity and, last, the exploratory one.
func choose(pool, shelf []Ranked, o Options) []Ranked {
	if !o.Explore || o.K < 3 {
		return diverse(pool, o.K, o)
	}
	if len(shelf) > 0 {
		return append(diverse(pool, o.K-1, o), marked(trial(shelf)))
	}
	if o.Coin < o.Epsilon {
		chosen := diverse(pool, o.K-1, o)
		if own, ok := neglected(pool, chosen); ok {
			return append(chosen, marked(own))
		}
	}
	return diverse(pool, o.K, o)
}

func marked(r Ranked) Ranked {
	r.Exploratory = true
	return r
}

// trial is the best fitting candidate of the shelf.
func trial(shelf []Ranked) Ranked {
	return slices.MinFunc(shelf, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Hit.Common+b.Mu, a.Hit.Common+a.Mu),
			cmp.Compare(a.WaitingSince, b.WaitingSince), cmp.Compare(a.ID, b.ID))
	})
}

// neglected is the own item that was used least, then surprised least, then is newest, and is not chosen already.
func neglected(pool, chosen []Ranked) (best Ranked, ok bool) {
	taken := ids(chosen)
	for _, r := range pool {
		if !r.Own || r.Source != SourceOwn || taken[r.ID] {
			continue
		}
		if !ok || byNeglect(r, best) < 0 {
			best, ok = r, true
		}
	}
	return best, ok
}

func byNeglect(a, b Ranked) int {
	return cmp.Or(cmp.Compare(a.UseCount, b.UseCount), cmp.Compare(a.AbsRPE, b.AbsRPE),
		cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// diverse picks k items by maximal marginal relevance (Carbonell and Goldstein 1998): each time the one with the largest
// lambda * raw - (1-lambda) * its greatest similarity to what is picked already. The result is in order of raw value.
func diverse(pool []Ranked, k int, o Options) []Ranked {
	lambda := o.Lambda
	if !(lambda >= 0 && lambda <= 1) {
		lambda = .7
	}
	var picked []Ranked
	left := slices.Clone(pool)
	nearest := make([]float64, len(left)) // similarity of left[i] to the closest picked item
	authors := make(map[string]int)
	for len(picked) < k {
		at := bestMarginal(left, nearest, lambda, func(r Ranked) bool {
			return o.AuthorCap <= 0 || r.Own || authors[r.Principal] < o.AuthorCap
		})
		if at < 0 {
			break
		}
		r := left[at]
		picked = append(picked, r)
		authors[r.Principal]++
		left = slices.Delete(left, at, at+1)
		nearest = slices.Delete(nearest, at, at+1)
		for i := range left {
			nearest[i] = max(nearest[i], similarity(left[i].Vectors, r.Vectors))
		}
	}
	slices.SortFunc(picked, byRaw)
	return picked
}

func bestMarginal(left []Ranked, nearest []float64, lambda float64, allowed func(Ranked) bool) int {
	at, best := -1, math.Inf(-1)
	for i, r := range left { // sorted by raw, then id: the first of equals wins
		if value := lambda*r.Raw - (1-lambda)*nearest[i]; value > best && allowed(r) {
			at, best = i, value
		}
	}
	return at
}

// similarity of two items is that of their closest vectors of one space, on the common scale; 0 when none compare.
func similarity(a, b []embed.Vector) float64 {
	best := 0.0
	for _, x := range a {
		profile, ok := embed.ProfileOf(x.Embedder)
		if !ok {
			continue
		}
		for _, y := range b {
			if cos, ok := index.Cosine(x, y); ok {
				best = max(best, profile.Common(cos))
			}
		}
	}
	return best
}

// displaced lists what would have been returned by raw value alone.
func displaced(pool, out []Ranked, o Options) (omitted []Omitted) {
	taken, places := ids(out), 0
	for _, r := range out {
		if !r.Exploratory {
			places++
		}
	}
	for _, r := range pool[:min(places, len(pool))] {
		if !taken[r.ID] {
			omitted = append(omitted, Omitted{r.ID, OmittedDiversity})
		}
	}
	return append(omitted, capped(pool, out, places, o)...)
}

// capped lists those that left a place empty because their principal had its share already.
func capped(pool, out []Ranked, places int, o Options) (omitted []Omitted) {
	free := o.K - len(out)
	if free <= 0 || o.AuthorCap <= 0 {
		return nil
	}
	taken := ids(out)
	for _, r := range pool[min(places, len(pool)):] {
		if len(omitted) == free {
			break
		}
		if !taken[r.ID] {
			omitted = append(omitted, Omitted{r.ID, OmittedDiversity})
		}
	}
	return omitted
}

func withinBudget(list []Ranked, budget int) (kept []Ranked, cut []Omitted) {
	if budget <= 0 {
		return list, nil
	}
	total := 0
	for _, r := range list {
		total += max(0, r.Length)
	}
	for len(list) > 1 && total > budget {
		last := list[len(list)-1]
		cut = append(cut, Omitted{last.ID, OmittedBudget})
		total -= max(0, last.Length)
		list = list[:len(list)-1]
	}
	return list, cut
}

func ids(list []Ranked) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, r := range list {
		set[r.ID] = true
	}
	return set
}
