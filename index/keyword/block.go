package keyword

import (
	"encoding/binary"
	"slices"
)

// A list keeps the documents of a term in blocks of at most blockSize, sorted by number. A posting takes three bytes: how far the
// document lies behind the first of its block, and its impact. Impacts bound what the term can add to a score; the count itself
// is in the forward list of the document.
type list struct {
	term   string
	n      int // documents
	blocks []block
}

const (
	blockSize = 128
	mergeSize = blockSize * 3 / 4 // neighbours that hold no more together become one
	maxOffset = 1<<16 - 1
)

// block is a run of postings. Its data has room for len(data)/3 of them: two bytes of offset for each, then a byte of impact.
type block struct {
	first uint32  // number of the first document
	ref   float32 // inverse mean length for which the impacts were made
	n     uint8   // postings, at least one
	top   uint8   // greatest impact
	data  []byte
}

func (b *block) room() int               { return len(b.data) / 3 }
func (b *block) offset(i int) uint32     { return uint32(binary.LittleEndian.Uint16(b.data[2*i:])) }
func (b *block) doc(i int) uint32        { return b.first + b.offset(i) }
func (b *block) last() uint32            { return b.doc(int(b.n) - 1) }
func (b *block) setOffset(i, to int)     { binary.LittleEndian.PutUint16(b.data[2*i:], uint16(to)) }
func (b *block) impacts() []byte         { return b.data[2*b.room():][:b.n] }
func (b *block) setImpact(i int, v byte) { b.data[2*b.room()+i] = v }

// search returns the place of the first posting that is not before doc.
func (b *block) search(doc uint32) int {
	if doc <= b.first {
		return 0
	}
	if doc-b.first > maxOffset {
		return int(b.n)
	}
	// The posting at place at is before doc. The sign of the difference decides without a branch that would have to be guessed.
	want, at, n, data := int32(doc-b.first), 0, int(b.n), b.data
	for n > 1 {
		half := n / 2
		at += half & int((int32(binary.LittleEndian.Uint16(data[2*(at+half):]))-want)>>31)
		n -= half
	}
	return at + 1
}

// impact returns the impact of doc, 0 when it is not in the block.
func (b *block) impact(doc uint32) uint8 {
	if i := b.search(doc); i < int(b.n) && b.doc(i) == doc {
		return b.data[2*b.room()+i]
	}
	return 0
}

// grow gives the block room for one more posting.
func (b *block) grow() {
	room := b.room()
	if int(b.n) < room {
		return
	}
	wider := max(1, 2*room)
	data := make([]byte, 3*wider)
	copy(data, b.data[:2*room])
	copy(data[2*wider:], b.data[2*room:])
	b.data = data
}

// insert puts a posting at place i; the block has room, and doc is within reach of its first.
func (b *block) insert(i int, doc uint32, impact uint8) {
	b.grow()
	n := int(b.n)
	copy(b.data[2*i+2:2*n+2], b.data[2*i:2*n])
	impacts := b.data[2*b.room():]
	copy(impacts[i+1:n+1], impacts[i:n])
	b.n++
	if doc < b.first { // only at place 0
		for j := 1; j <= n; j++ {
			b.setOffset(j, int(b.offset(j)+b.first-doc))
		}
		b.first = doc
	}
	b.setOffset(i, int(doc-b.first))
	b.setImpact(i, impact)
	b.top = max(b.top, impact)
}

// remove takes the posting at place i out of a block that has others.
func (b *block) remove(i int) {
	impacts := b.impacts()
	impact := impacts[i]
	copy(impacts[i:], impacts[i+1:])
	copy(b.data[2*i:2*int(b.n)-2], b.data[2*i+2:2*int(b.n)])
	b.n--
	if i == 0 {
		by := b.offset(0)
		for j := range int(b.n) {
			b.setOffset(j, int(b.offset(j)-by))
		}
		b.first += by
	}
	if impact == b.top {
		b.top = slices.Max(b.impacts())
	}
	if room := b.room(); room > 4 && int(b.n) <= room/4 {
		b.resize(room / 2)
	}
}

// resize makes a new array for room postings.
func (b *block) resize(room int) {
	data := make([]byte, 3*room)
	copy(data, b.data[:2*int(b.n)])
	copy(data[2*room:], b.impacts())
	b.data = data
}

// cut moves the postings from place i on into a new block.
func (b *block) cut(i int) block {
	room := 1
	for room < int(b.n)-i {
		room *= 2
	}
	out := block{first: b.doc(i), ref: b.ref, data: make([]byte, 3*room)}
	for j := i; j < int(b.n); j++ {
		out.insert(j-i, b.doc(j), b.impacts()[j])
	}
	b.n = uint8(i)
	b.top = slices.Max(b.impacts())
	return out
}

// at returns the place of the last block that does not begin behind doc, -1 when all do.
func (l *list) at(doc uint32) int {
	i, found := slices.BinarySearchFunc(l.blocks, doc, func(b block, doc uint32) int {
		switch {
		case b.first < doc:
			return -1
		case b.first > doc:
			return 1
		}
		return 0
	})
	if found {
		return i
	}
	return i - 1
}

// insert adds a document that is not in the list. encode makes its impact for an inverse mean length; ref is the present one.
func (l *list) insert(doc uint32, ref float32, encode func(ref float32) uint8) {
	l.n++
	i := l.at(doc)
	switch {
	case i < 0 && len(l.blocks) > 0 && l.blocks[0].n < blockSize && l.blocks[0].last()-doc <= maxOffset:
		i = 0
	case i >= 0 && l.blocks[i].n == blockSize && doc < l.blocks[i].last():
		half := l.blocks[i].cut(blockSize / 2)
		l.blocks = slices.Insert(l.blocks, i+1, half)
		if doc > half.first {
			i++
		}
	case i < 0, l.blocks[i].n == blockSize, doc-l.blocks[i].first > maxOffset:
		b := block{first: doc, ref: ref}
		b.insert(0, doc, encode(ref))
		l.blocks = slices.Insert(l.blocks, i+1, b)
		return
	}
	b := &l.blocks[i]
	b.insert(b.search(doc), doc, encode(b.ref))
}

// remove takes out a document that is in the list.
func (l *list) remove(doc uint32) {
	i := l.at(doc)
	if i < 0 {
		return
	}
	b := &l.blocks[i]
	at := b.search(doc)
	if at == int(b.n) || b.doc(at) != doc {
		return
	}
	l.n--
	if b.n == 1 {
		l.blocks = slices.Delete(l.blocks, i, i+1)
		return
	}
	b.remove(at)
	if !l.join(i) && i > 0 {
		l.join(i - 1)
	}
}

// join makes one block of block i and the next when both are small.
func (l *list) join(i int) bool {
	if i+1 >= len(l.blocks) {
		return false
	}
	a, b := &l.blocks[i], &l.blocks[i+1]
	if int(a.n)+int(b.n) > mergeSize || b.last()-a.first > maxOffset {
		return false
	}
	for j := range int(b.n) {
		a.insert(int(a.n), b.doc(j), b.impacts()[j])
	}
	a.ref = max(a.ref, b.ref) // impacts made for a lower one are greater, and remain bounds
	l.blocks = slices.Delete(l.blocks, i+1, i+2)
	return true
}
