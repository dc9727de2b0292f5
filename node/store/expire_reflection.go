package store

import "strconv"

func reflectionCounter(owner uint32) string {
	return "reflections/of/" + strconv.FormatUint(uint64(owner), 10)
}

// evictReflection makes room for a new one: the oldest of an agent that has as many as are kept gives way.
func (t *txn) evictReflection(owner uint32) {
	if t.counter(reflectionCounter(owner)) >= reflectionsKept {
		t.eachReflection(nsKey(kindReflection, t.ns.Number).u32(owner), func(r *Reflection) bool {
			t.dropReflection(r)
			return false
		})
	}
	t.count(reflectionCounter(owner), 1)
}

// eachReflection visits reflections in order of id, which is that of their making.
func (t *txn) eachReflection(prefix keyBuf, fn func(*Reflection) bool) {
	t.scan(prefix, func(_, v []byte) bool {
		r := new(Reflection)
		if err := decodeValue(v, r); err != nil {
			t.fail(err)
			return false
		}
		return fn(r)
	})
}

// forgetReflectionsOf lets the next ticks drop what a removed agent left.
func (t *txn) forgetReflectionsOf(owner uint32) {
	if t.counter(reflectionCounter(owner)) > 0 {
		t.mark(allReflections(t.now, t.ns.Number, owner))
	}
}

// allReflections is the expiry of all that an agent has: the zero id stands for every one.
func allReflections(at int64, ns, owner uint32) keyBuf {
	return key(kindReflectionTime).time(at).u32(ns).u32(owner).id(ID{})
}

// expireReflections drops reflections whose attempts are past retention, and those of removed agents.
func (t *ticking) expireReflections() {
	t.due(kindReflectionTime, 0, func(k []byte) {
		owner, id := u32At(k, timePrefix+4), lastID(k)
		t.inside(u32At(k, timePrefix), func() {
			if id == (ID{}) {
				t.dropAllReflections(k, owner)
				return
			}
			r := new(Reflection)
			if t.get(t.reflectionKey(owner, id), r) {
				t.dropReflection(r)
			}
		})
	})
}

func (t *ticking) dropAllReflections(k []byte, owner uint32) {
	t.eachReflection(nsKey(kindReflection, t.ns.Number).u32(owner), func(r *Reflection) bool {
		t.dropReflection(r)
		if t.full() {
			t.mark(k) // the next tick goes on
			return false
		}
		return true
	})
}

// forgetReflectionsOn drops reflections that were made from what is erased, up to a purge's step; it reports whether some
// are left.
func (t *txn) forgetReflectionsOn(source ID) (keys int, more bool) {
	prefix := nsKey(kindReflectionBase, t.ns.Number).id(source)
	t.scan(prefix, func(k, _ []byte) bool {
		if len(t.writes) >= purgeStep {
			more = true
			return false
		}
		r := new(Reflection)
		if t.get(t.reflectionKey(u32At(k, len(prefix)), lastID(k)), r) {
			t.dropReflection(r)
		}
		t.del(k)
		keys++
		return true
	})
	return keys, more
}
