package federation

// Kind says what an experience teaches.
type Kind string

// The kinds of experience.
const (
	KindSuccess    Kind = "success"    // what worked, as a general principle
	KindFailure    Kind = "failure"    // the first wrong step and how to avoid it
	KindContrast   Kind = "contrast"   // what the best attempt did that the worst did not
	KindToolUse    Kind = "tool_use"   // prerequisites, argument values, recovery from an error
	KindReflection Kind = "reflection" // the way from a failure to a success on a retry
	KindCaution    Kind = "caution"    // a pure failure; private, never nominated
	KindDirect     Kind = "direct"     // written by an agent itself
)

// Valid reports whether k is a known kind.
func (k Kind) Valid() bool {
	switch k {
	case KindSuccess, KindFailure, KindContrast, KindToolUse, KindReflection, KindCaution, KindDirect:
		return true
	}
	return false
}

// warns reports whether an experience of this kind says what to leave undone.
func (k Kind) warns() bool { return k == KindFailure || k == KindCaution }

// Status is where an experience stands in its life.
type Status string

// The states of an experience.
const (
	StatusActive      Status = "active"      // private long-term memory
	StatusBuffered    Status = "buffered"    // in the gate's buffer
	StatusCandidate   Status = "candidate"   // frozen copy on the shelf
	StatusPromoted    Status = "promoted"    // in the meta-pool
	StatusDemoted     Status = "demoted"     // lost its place in the meta-pool; final for its version
	StatusDormant     Status = "dormant"     // long unused
	StatusHeld        Status = "held"        // stopped by an administrator or curator
	StatusQuarantined Status = "quarantined" // stopped by screening
	StatusArchived    Status = "archived"    // deleted by utility, restorable
	StatusRevoked     Status = "revoked"     // called back
	StatusSuperseded  Status = "superseded"  // replaced by a version or a merge
)

// Valid reports whether s is a known status.
func (s Status) Valid() bool {
	switch s {
	case StatusActive, StatusBuffered, StatusCandidate, StatusPromoted, StatusDemoted, StatusDormant,
		StatusHeld, StatusQuarantined, StatusArchived, StatusRevoked, StatusSuperseded:
		return true
	}
	return false
}

// Share is the author's wish about sharing. The empty value means auto.
type Share string

// The wishes about sharing.
const (
	ShareAuto      Share = "auto"      // the author's own record nominates
	ShareCandidate Share = "candidate" // nominate at once
	ShareNever     Share = "never"     // never leaves the pool; wins over every other wish
)

// Valid reports whether s is a known wish; the empty value is valid and means auto.
func (s Share) Valid() bool {
	return s == "" || s == ShareAuto || s == ShareCandidate || s == ShareNever
}

// CombineShare joins the wishes set on an experience, its trajectory, its agent and its namespace. Never wins,
// then candidate; nothing set is auto. An unknown value counts as never, so that a wish a newer version
// understands is not ignored by an older one.
func CombineShare(wishes ...Share) Share {
	result := ShareAuto
	for _, wish := range wishes {
		switch wish {
		case "", ShareAuto:
		case ShareCandidate:
			result = ShareCandidate
		default:
			return ShareNever
		}
	}
	return result
}
