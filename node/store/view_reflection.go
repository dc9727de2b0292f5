package store

// Reflection finds an agent's reflection by id; nil when there is none.
func (v *View) Reflection(ns *Namespace, owner uint32, id ID) (*Reflection, error) {
	r := new(Reflection)
	ok, err := v.get(nsKey(kindReflection, ns.Number).u32(owner).id(id), r)
	if !ok {
		return nil, err
	}
	return r, err
}

// ReflectionOf finds the reflection that began under an agent's receipt; nil when there is none.
func (v *View) ReflectionOf(ns *Namespace, owner uint32, recall ID) (*Reflection, error) {
	var id ID
	ok, err := v.get(nsKey(kindReflectionOf, ns.Number).u32(owner).id(recall), &id)
	if !ok {
		return nil, err
	}
	return v.Reflection(ns, owner, id)
}

// ReflectionsIn lists the reflections on a group, oldest first.
func (v *View) ReflectionsIn(ns *Namespace, owner uint32, trajectory ID) ([]Reflection, error) {
	var ids []ID
	prefix := nsKey(kindReflectionIn, ns.Number).u32(owner).id(trajectory)
	err := v.scan(prefix, upper(prefix), func(k, _ []byte) (bool, error) {
		ids = append(ids, lastID(k))
		return true, nil
	})
	var out []Reflection
	for _, id := range ids {
		r, rerr := v.Reflection(ns, owner, id)
		if rerr != nil {
			return out, rerr
		}
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, err
}
