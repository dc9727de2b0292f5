package federation

import "fmt"

// Verdict is what the rule says about an item.
type Verdict string

// The verdicts.
const (
	VerdictWait    Verdict = "wait"    // a candidate that has not proved itself
	VerdictPromote Verdict = "promote" // a candidate that has
	VerdictStay    Verdict = "stay"    // a promoted item keeps its place
	VerdictDemote  Verdict = "demote"  // a promoted item loses it, for good in this version
)

// Decide applies the thresholds of p to a score. A candidate is promoted when its trust, the jurors heard and
// the citations suffice; quotas and holds are the caller's, see [QuotaHolds]. An item that was promoted before
// stays until its trust falls below DemoteBelow. The list says what is missing (wait) or why (demote), each
// entry "code:have<need" in the unit of the field, for example "trust:414485<480000", "quorum:8<9",
// "citations:4<5" and "jury:0<1". It is nil otherwise.
func Decide(s Score, promotedBefore bool, p Profile) (Verdict, []string) {
	if promotedBefore {
		if s.Trust < p.DemoteBelow {
			return VerdictDemote, missing(nil, "trust", s.Trust, p.DemoteBelow)
		}
		return VerdictStay, nil
	}
	var short []string
	short = missing(short, "jury", int64(s.Jury), 1)
	short = missing(short, "trust", s.Trust, p.Threshold)
	short = missing(short, "quorum", int64(s.Heard), int64(s.Quorum))
	short = missing(short, "citations", s.Citations, p.MinCitations)
	if len(short) > 0 {
		return VerdictWait, short
	}
	return VerdictPromote, nil
}

func missing(list []string, code string, have, need int64) []string {
	if have >= need {
		return list
	}
	return append(list, fmt.Sprintf("%s:%d<%d", code, have, need))
}

// Quota bounds what one author principal may have promoted. Use [DefaultQuota]; the zero value lets nothing in.
type Quota struct {
	// PerDay is the most promotions of one author principal in one UTC day. Default 20.
	PerDay int `cbor:"1,keyasint"`
	// Items is what one author principal may always have in the meta-pool. Default 20.
	Items int `cbor:"2,keyasint"`
	// Share is the part of the meta-pool one author principal may have beyond Items, [0, 1]. Default .1.
	Share Micro `cbor:"3,keyasint"`
	// Fair is the part in even shares: Fair / active principals of the meta-pool. Default 2.
	Fair int `cbor:"4,keyasint"`
}

// DefaultQuota returns 20 a day and max(20 items, max(10 %, 2/active principals) of the meta-pool).
func DefaultQuota() Quota { return Quota{PerDay: 20, Items: 20, Share: 100_000, Fair: 2} }

// QuotaInput is the state before a promotion.
type QuotaInput struct {
	PromotedToday    int // promotions of the author principal in this UTC day
	AuthorInMeta     int // its items in the meta-pool
	MetaSize         int // all items in the meta-pool
	ActivePrincipals int // principals of the namespace that take part
	Limits           Quota
}

// Reasons of [QuotaHolds].
const (
	ReasonQuotaDay   = "quota_day"
	ReasonQuotaShare = "quota_share"
)

// QuotaHolds reports whether the quotas of the author principal still hold after one more promotion, and which
// one would not. The shares are those of the pool with the new item in it.
func QuotaHolds(in QuotaInput) (bool, string) {
	if in.PromotedToday+1 > in.Limits.PerDay {
		return false, ReasonQuotaDay
	}
	own, pool := int64(in.AuthorInMeta)+1, int64(in.MetaSize)+1
	switch {
	case own <= int64(in.Limits.Items):
	case own*One <= in.Limits.Share*pool:
	case in.ActivePrincipals > 0 && own*int64(in.ActivePrincipals) <= int64(in.Limits.Fair)*pool:
	default:
		return false, ReasonQuotaShare
	}
	return true, ""
}
