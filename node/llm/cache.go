package llm

import (
	"container/list"
	"sync"
	"time"
)

// cacheKey is the SHA-256 of everything that decides an answer: namespace, role, model settings, prompt and schema.
type cacheKey [32]byte

// cache keeps valid answers, the least recently used leave first. An answer is the text that passed the checks; it is
// checked again when it is served. Namespaces never share answers.
type cache struct {
	size int
	ttl  time.Duration
	now  func() time.Time

	mu    sync.Mutex // guards all below
	order *list.List // of *cached, newest first
	byKey map[cacheKey]*list.Element
}

type cached struct {
	key       cacheKey
	namespace string
	text      string
	until     time.Time
}

func newCache(size int, ttl time.Duration, now func() time.Time) *cache {
	return &cache{size: size, ttl: ttl, now: now, order: list.New(), byKey: map[cacheKey]*list.Element{}}
}

func (c *cache) get(key cacheKey) (string, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return "", false
	}
	item := e.Value.(*cached)
	if c.now().After(item.until) {
		c.removeLocked(e)
		return "", false
	}
	c.order.MoveToFront(e)
	return item.text, true
}

func (c *cache) put(key cacheKey, namespace, text string) {
	if c.size <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.removeLocked(e)
	}
	c.byKey[key] = c.order.PushFront(&cached{key, namespace, text, c.now().Add(c.ttl)})
	for c.order.Len() > c.size {
		c.removeLocked(c.order.Back())
	}
}

func (c *cache) removeLocked(e *list.Element) {
	delete(c.byKey, e.Value.(*cached).key)
	c.order.Remove(e)
}

// Forget drops every cached answer of a namespace. Erasing a memory calls it, since answers repeat what they were asked
// about.
func (c *Client) Forget(namespace string) {
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	for e := c.cache.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*cached).namespace == namespace {
			c.cache.removeLocked(e)
		}
		e = next
	}
}
