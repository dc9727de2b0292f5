package embed

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// cacheKey is the cut SHA-256 of embedder id and text.
type cacheKey [16]byte

func keyOf(embedderID, text string) cacheKey {
	h := sha256.New()
	h.Write([]byte(embedderID))
	h.Write([]byte{0})
	h.Write([]byte(text))
	var sum [sha256.Size]byte
	return cacheKey(h.Sum(sum[:0])[:16])
}

// cache keeps the vectors of the texts used last. Safe for concurrent use.
type cache struct {
	limit int

	mu    sync.Mutex
	order *list.List // of *cached, the latest in front
	items map[cacheKey]*list.Element
}

type cached struct {
	key    cacheKey
	values []float32
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), items: map[cacheKey]*list.Element{}}
}

// get returns the values kept for key. They are shared: callers must not change them.
func (c *cache) get(key cacheKey) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).values, true
}

func (c *cache) put(key cacheKey, values []float32) {
	if c.limit <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		c.order.MoveToFront(e)
		return
	}
	c.items[key] = c.order.PushFront(&cached{key, values})
	for len(c.items) > c.limit {
		last := c.order.Back()
		c.order.Remove(last)
		delete(c.items, last.Value.(*cached).key)
	}
}
