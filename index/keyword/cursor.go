package keyword

import "math"

// cursor is a term of a query and a place in its list. Bounds are in units, whole numbers of which the whole query can reach some 2^30.
type cursor struct {
	list *list
	term uint32
	idf  float64 // times the occurrences in the query

	step   float64 // units that an impact of 1 is worth in a block whose reference is not above the present inverse mean length
	units  uint32  // the same, rounded up
	most   uint32  // bound for all documents
	here   uint32  // bound for the documents of the window
	block  int     // the first block that may hold documents of the window or behind it
	at     int     // the first posting in it that may
	stale  bool    // some block has a reference above the present
	looked int     // the block of the last look-up
}

// worth returns the units of an impact of 1 in a block.
func (c *cursor) worth(b *block, inverse float64) uint32 {
	if !c.stale || float64(b.ref) <= inverse {
		return c.units
	}
	return unitsOf(c.step * float64(b.ref) / inverse)
}

func unitsOf(step float64) uint32 { return uint32(math.Ceil(step * (1 + 1e-9))) }

// seek moves the cursor to the first posting that is not before doc.
func (c *cursor) seek(doc uint32) {
	blocks := c.list.blocks
	if c.block >= len(blocks) {
		return
	}
	if next := forward(blocks, c.block, doc); next != c.block {
		c.block, c.at = next, 0
	}
	if at := blocks[c.block].search(doc); at > c.at {
		c.at = at
	}
	if c.at >= int(blocks[c.block].n) {
		c.block, c.at = c.block+1, 0
	}
}

// forward returns the last block from i on that does not begin behind doc, i itself when all do.
func forward(blocks []block, i int, doc uint32) int {
	step := 1
	for i+step < len(blocks) && blocks[i+step].first <= doc {
		i += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		for i+step < len(blocks) && blocks[i+step].first <= doc {
			i += step
		}
	}
	return i
}

// next returns the document at the cursor.
func (c *cursor) next() (doc uint32, ok bool) {
	if c.block >= len(c.list.blocks) {
		return 0, false
	}
	return c.list.blocks[c.block].doc(c.at), true
}

// bound sets here for the documents from the cursor's place to before end, which lies behind it.
func (c *cursor) bound(end uint64, inverse float64) {
	c.here = 0
	for i := c.block; i < len(c.list.blocks); i++ {
		b := &c.list.blocks[i]
		if uint64(b.first) >= end {
			return
		}
		c.here = max(c.here, uint32(b.top)*c.worth(b, inverse))
	}
}

// before returns how many postings of the cursor's block lie before end.
func (c *cursor) before(end uint64) int {
	b := &c.list.blocks[c.block]
	if c.block+1 < len(c.list.blocks) && uint64(c.list.blocks[c.block+1].first) <= end || uint64(b.last()) < end {
		return int(b.n)
	}
	return b.search(uint32(end))
}
