package federation

const (
	dayMillis = 24 * 60 * 60 * 1000
	// standingMillis is how long a principal must have been admitted before it judges, and how long a juror
	// may stay silent.
	standingMillis = 14 * dayMillis
	maxJury        = 12
)

// Standing is what decides whether a principal may judge. Times are Unix milliseconds.
type Standing struct {
	AdmittedAt         int64
	NamespaceCreatedAt int64
	Anchor             bool // an administrator vouches
	Suspended          bool
}

// GoodStanding reports whether a principal may sit on a jury at now: admitted 14 days ago or more, or within
// the first 14 days of the namespace, or an anchor; never while suspended.
func GoodStanding(s Standing, now int64) bool {
	if s.Suspended {
		return false
	}
	founder := s.AdmittedAt-s.NamespaceCreatedAt < standingMillis
	return s.Anchor || founder || now-s.AdmittedAt >= standingMillis
}

// JurySize is the number of seats for a number of outside principals in good standing: all of them, at most 12.
// 0 means that nobody can judge, and the item is not nominated.
func JurySize(outside int) int { return min(max(outside, 0), maxJury) }

// SeatStruck reports whether a juror of mass w, seated since seatedAt, loses its seat at now: it was not heard
// (w below HeardMass) in 14 days while the item is still a candidate. A struck juror never returns and its
// evidence is dropped. Run over the jurors in order of principal.
func SeatStruck(w Micro, seatedAt, now int64, candidate bool, p Profile) bool {
	return candidate && w < p.HeardMass && now-seatedAt >= standingMillis
}

// JuryAfterStrike is J after a seat was struck: the same when an eligible principal takes the seat, otherwise
// one less, but never below 1.
func JuryAfterStrike(jury int, replaced bool) int {
	if replaced || jury <= 1 {
		return jury
	}
	return jury - 1
}
