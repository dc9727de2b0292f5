package store

import "slices"

// The records that commands read and write most are kept decoded beside their bytes. What is kept is never changed: readers
// and writers get copies of the record itself and share the rest, so a handler replaces maps, pointers and slices of these
// records and does not write into them. Seats of juries are written into, and copied.

// keptRecord is what to keep of a record that was read into or is written from v; nil for records that are not kept.
func keptRecord(v any) any {
	switch r := v.(type) {
	case *Experience:
		kept := *r
		return &kept
	case *Jury:
		return keptJury(*r)
	case Jury:
		return keptJury(r)
	}
	return nil
}

func keptJury(j Jury) *Jury {
	j.Seats = slices.Clone(j.Seats)
	return &j
}

// copyRecord fills v from a kept record of its type.
func copyRecord(v, kept any) bool {
	switch r := kept.(type) {
	case *Experience:
		if to, ok := v.(*Experience); ok {
			*to = *r
			return true
		}
	case *Jury:
		if to, ok := v.(*Jury); ok {
			*to = *keptJury(*r)
			return true
		}
	}
	return false
}
