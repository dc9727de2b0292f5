package recall

import (
	"cmp"
	"container/heap"
	"sync"

	"cairn/index/embed"
)

const (
	// hotShare is how many experiences of a pool there are for each that is hot.
	hotShare = 10
	// maxHot bounds what is hot in one pool: with two vectors of 384 values each 30 MiB.
	maxHot = 10_000
)

// Hot knows the tenth of each pool that is recalled most (section 3 of the rules of memory) and keeps the vectors of what of
// it was asked for, so that a recall reads neither the state nor the file of vectors for them. At least one experience of a
// pool is hot when any was recalled; of equals the lower id. An experience is held under a token that stands for what is
// kept of it: with another token nothing is found. It is safe for concurrent use; the zero value is empty and ready.
type Hot[K comparable] struct {
	mu    sync.Mutex
	pools map[K]*hotPool
}

// hotPool holds the experiences that were recalled: the hottest, the least hot of them on top, and the others, the hottest
// on top.
type hotPool struct {
	items     map[string]*hotItem
	hot, cold hotHeap
}

type hotItem struct {
	id       string
	recalled int64
	token    any
	vectors  []embed.Vector
	kept     bool
	heap     *hotHeap
	at       int
}

// Note says how often an experience was recalled, in any unit, and how many experiences its pool has.
func (h *Hot[K]) Note(pool K, size int, id string, recalled int64, token any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.pools[pool]
	if p == nil {
		if recalled <= 0 {
			return
		}
		if h.pools == nil {
			h.pools = make(map[K]*hotPool)
		}
		p = &hotPool{items: make(map[string]*hotItem), hot: hotHeap{least: true}}
		h.pools[pool] = p
	}
	p.note(id, recalled, token)
	p.balance(size)
}

// Forget drops an experience of a pool that has so many left.
func (h *Hot[K]) Forget(pool K, size int, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.pools[pool]; p != nil {
		p.remove(id)
		p.balance(size)
		if len(p.items) == 0 {
			delete(h.pools, pool)
		}
	}
}

// Clear drops everything.
func (h *Hot[K]) Clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pools = nil
}

// Get reports whether an experience is hot, and its vectors when they are kept. Nobody may change them.
func (h *Hot[K]) Get(pool K, id string, token any) (vectors []embed.Vector, kept, hot bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if it := h.hotItem(pool, id, token); it != nil {
		return it.vectors, it.kept, true
	}
	return nil, false, false
}

// Keep keeps the vectors of an experience, if it is hot still.
func (h *Hot[K]) Keep(pool K, id string, token any, vectors []embed.Vector) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if it := h.hotItem(pool, id, token); it != nil {
		it.vectors, it.kept = vectors, true
	}
}

func (h *Hot[K]) hotItem(pool K, id string, token any) *hotItem {
	p := h.pools[pool]
	if p == nil {
		return nil
	}
	if it := p.items[id]; it != nil && it.heap == &p.hot && it.token == token {
		return it
	}
	return nil
}

// Len returns how many experiences are hot, and of how many the vectors are kept.
func (h *Hot[K]) Len() (hot, kept int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pools {
		hot += len(p.hot.items)
		for _, it := range p.hot.items {
			if it.kept {
				kept++
			}
		}
	}
	return hot, kept
}

func (p *hotPool) note(id string, recalled int64, token any) {
	it := p.items[id]
	switch {
	case recalled <= 0:
		p.remove(id)
	case it == nil:
		it = &hotItem{id: id, recalled: recalled, token: token}
		p.items[id] = it
		p.cold.push(it)
	default:
		if it.token != token {
			it.token, it.vectors, it.kept = token, nil, false
		}
		it.recalled = recalled
		heap.Fix(it.heap, it.at)
	}
}

func (p *hotPool) remove(id string) {
	if it := p.items[id]; it != nil {
		heap.Remove(it.heap, it.at)
		delete(p.items, id)
	}
}

// balance moves experiences between the two heaps until the hottest are hot.
func (p *hotPool) balance(size int) {
	want := min(maxHot, (size+hotShare-1)/hotShare)
	for len(p.hot.items) > want {
		p.cool()
	}
	for len(p.hot.items) < want && len(p.cold.items) > 0 {
		p.hot.push(heap.Pop(&p.cold).(*hotItem))
	}
	for len(p.hot.items) > 0 && len(p.cold.items) > 0 && hotter(p.cold.items[0], p.hot.items[0]) < 0 {
		p.hot.push(heap.Pop(&p.cold).(*hotItem))
		p.cool()
	}
}

// cool makes the least hot one cold, with nothing kept of it.
func (p *hotPool) cool() {
	it := heap.Pop(&p.hot).(*hotItem)
	it.vectors, it.kept = nil, false
	p.cold.push(it)
}

// hotter orders by number of recalls, most first, then by id.
func hotter(a, b *hotItem) int {
	return cmp.Or(cmp.Compare(b.recalled, a.recalled), cmp.Compare(a.id, b.id))
}

// hotHeap implements heap.Interface; on top is the hottest, or the least hot.
type hotHeap struct {
	items []*hotItem
	least bool
}

func (h *hotHeap) push(it *hotItem) { heap.Push(h, it) }

func (h *hotHeap) Len() int { return len(h.items) }

func (h *hotHeap) Less(i, j int) bool { return (hotter(h.items[i], h.items[j]) < 0) != h.least }

func (h *hotHeap) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	h.items[i].at, h.items[j].at = i, j
}

// Push implements heap.Interface.
func (h *hotHeap) Push(x any) {
	it := x.(*hotItem)
	it.heap, it.at = h, len(h.items)
	h.items = append(h.items, it)
}

// Pop implements heap.Interface.
func (h *hotHeap) Pop() any {
	last := len(h.items) - 1
	it := h.items[last]
	h.items[last] = nil
	h.items = h.items[:last]
	it.heap = nil
	return it
}
