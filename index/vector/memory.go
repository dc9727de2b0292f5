package vector

import (
	"os"
	"unsafe"
)

// Memory of a space. The first arenas come from Go's heap, so that a small pool costs little. Large spaces take slabs from the
// system, in huge pages: a walk touches rows at random, and with small pages nearly every row would cost a look-up of its page
// too. A slab is given back when its owner is collected, never before: those who read hold the owner's lock.
const (
	heapArenas = 8  // arenas of a space that lie in the heap
	slabArenas = 32 // arenas of a slab, at most
)

// slab is memory that is handed out in equal parts.
type slab struct {
	free []byte
}

// take returns the next size bytes, zero, at a multiple of a page; n arenas of the owner exist. own is told about memory
// taken from the system.
func (m *slab) take(size, n int, own func(mapping)) []byte {
	if n < heapArenas {
		return make([]byte, size)
	}
	if len(m.free) < size {
		b, taken, ok := systemMemory(size * min(n, slabArenas))
		if !ok {
			return make([]byte, size)
		}
		own(taken)
		m.free = b
	}
	out := m.free[:size:size]
	m.free = m.free[size:]
	return out
}

// spill is a file without a name that holds the values of arenas, mapped into memory.
type spill struct {
	file *os.File
	size int64
}

// newValues returns memory for the values of arena i.
func (s *Space) newValues(i int) []float32 {
	n := arenaRows * s.dims
	if s.folder != "" && i >= spillArenas {
		if b, ok := s.moreSpill(4 * n); ok {
			return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n)
		}
	}
	b := s.values.take(4*n, i, s.own)
	return unsafe.Slice((*float32)(unsafe.Pointer(&b[0])), n)
}

// spillArenas is the number of arenas whose values stay in memory in any case.
const spillArenas = 4

// newArena makes arena i. It is called with writes held. The memory is touched here, where nobody waits: the system clears a page when it is
// first written to.
func (s *Space) newArena(i int) *arena {
	size := stride(s.dims) * arenaRows
	b := s.slab.take(size, i, s.own)
	a := &arena{
		values: s.newValues(i),
		codes:  unsafe.Slice((*int8)(unsafe.Pointer(&b[0])), size),
		scales: make([]float32, arenaRows),
	}
	const page = 4096
	for at := 0; at < len(a.values); at += page / 4 {
		a.values[at] = 0
	}
	for at := 0; at < len(a.codes); at += page {
		a.codes[at] = 0
	}
	return a
}
