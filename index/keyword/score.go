package keyword

import "math"

// BM25 constants.
const (
	k1 = 1.2
	b0 = .75
)

// part is what one term adds to the BM25 score of a document; inverse is 1 over the mean length.
func part(idf float64, count, length float32, inverse float64) float64 {
	c := float64(count)
	return float64(idf*(k1+1)) * c / (c + float64(k1*(1-b0)) + float64(float64(length)*float64(float64(k1*b0)*inverse)))
}

// idf is the weight of a term that n of live documents have. It is greater than 0.
func idf(live, n int) float64 {
	return math.Log(1 + (float64(live)-float64(n)+.5)/(float64(n)+.5))
}

// impactOf is a bound of part(idf) / (idf * (k1 + 1)) in steps of 1/255: it holds for every inverse mean length of ref or more, and
// for a lower one when it is multiplied by ref over that.
func impactOf(count, length, ref float32) uint8 {
	c := float64(count)
	share := c / (c + k1*(1-b0) + float64(length)*(k1*b0*float64(ref)))
	return uint8(min(255, math.Floor(share*255*(1+1e-9))+1))
}

// Impacts are made a little below the present inverse mean length, so that a mean that grows does not loosen them at once, and made
// again when they are staleRef times too low.
const (
	refMargin = .97
	staleRef  = .9
)

// refLocked is the reference of impacts made now.
func (x *Index) refLocked() float32 { return float32(refMargin * x.inverseLocked()) }

// Work of one Put on blocks whose impacts were made for another mean length.
const (
	sweptBlocks   = 128 // looked at
	sweptPostings = 256 // made again, at most one block more
)

// Sweep goes on through all blocks, as far as one Put may, and renews the impacts of those whose reference is too far from the present one.
// Bounds hold without it; they only become loose. Searches wait for one block at most.
func (x *Index) Sweep() {
	x.writes.Lock()
	defer x.writes.Unlock()
	ref, now := x.refLocked(), float32(x.inverseLocked())
	budget := sweptPostings
	for range sweptBlocks {
		if x.sweep.term >= len(x.lists) {
			x.sweep = place{}
			return
		}
		l := &x.lists[x.sweep.term]
		if x.sweep.block >= len(l.blocks) {
			x.sweep = place{term: x.sweep.term + 1}
			continue
		}
		b := &l.blocks[x.sweep.block]
		x.sweep.block++
		if b.ref <= now && b.ref >= staleRef*ref {
			continue
		}
		x.renew(b, uint32(x.sweep.term), ref)
		if budget -= int(b.n); budget <= 0 {
			return
		}
	}
}

// place is where the sweep goes on.
type place struct{ term, block int }

// renew is called with writes held.
func (x *Index) renew(b *block, term uint32, ref float32) {
	x.mu.Lock()
	defer x.mu.Unlock()
	b.ref, b.top = ref, 0
	for i := range int(b.n) {
		d := &x.docs[b.doc(i)]
		impact := impactOf(d.count(term), d.length, ref)
		b.setImpact(i, impact)
		b.top = max(b.top, impact)
	}
}
