package vector

import "math/bits"

// Owners is a set of owners as a bit set: bit o%64 of word o/64 for owner o. Owners beyond its end are not in it.
type Owners []uint64

// Add puts an owner into the set, which grows as needed, and returns it.
func (o Owners) Add(owner uint32) Owners {
	if n := int(owner/64) + 1; n > len(o) {
		o = append(o, make(Owners, n-len(o))...)
	}
	o[owner/64] |= 1 << (owner % 64)
	return o
}

// Has reports whether an owner is in the set.
func (o Owners) Has(owner uint32) bool {
	return int(owner/64) < len(o) && o[owner/64]>>(owner%64)&1 == 1
}

// Len returns the number of owners.
func (o Owners) Len() int {
	n := 0
	for _, w := range o {
		n += bits.OnesCount64(w)
	}
	return n
}

// each calls visit with every owner below limit.
func (o Owners) each(limit int, visit func(owner uint32)) {
	for i, w := range o {
		for ; w != 0; w &= w - 1 {
			owner := i*64 + bits.TrailingZeros64(w)
			if owner >= limit {
				return
			}
			visit(uint32(owner))
		}
	}
}

// rowsOf finds the rows of an owner: first has the number of one of them by owner, and the labels lead on from row to row. It
// is kept while owners are numbered closely, as those of a pool are; scattered numbers would make it large, and the labels
// are searched instead.
type rowsOf struct {
	first     []uint32 // noRow for owners without rows
	scattered bool
}

// scatter is how many owner numbers there may be for each row, and spare how many in any case.
const (
	scatter = 8
	spare   = 1 << 16
)

func (s *Space) joinOwnerLocked(row Row) {
	l := &s.rows[row]
	if s.scattersLocked(l.owner) {
		s.byOwner = rowsOf{scattered: true}
	}
	if s.byOwner.scattered {
		return
	}
	for int(l.owner) >= len(s.byOwner.first) {
		s.byOwner.first = append(s.byOwner.first, noRow)
	}
	l.next = s.byOwner.first[l.owner]
	s.byOwner.first[l.owner] = uint32(row)
}

// scattersLocked reports whether an owner lies too far from the others.
func (s *Space) scattersLocked(owner uint32) bool { return int(owner) > scatter*len(s.rows)+spare }

func (s *Space) leaveOwnerLocked(row Row) {
	if s.byOwner.scattered {
		return
	}
	at := &s.byOwner.first[s.rows[row].owner]
	for *at != uint32(row) {
		at = &s.rows[*at].next
	}
	*at = s.rows[row].next
}
