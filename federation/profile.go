package federation

import (
	"errors"
	"fmt"
)

// Profile holds the numbers of the trust rule. They are settings of a namespace; a decision stores the profile
// it was made with. Use [DefaultProfile] or [StrictProfile]: the zero value is not valid.
type Profile struct {
	Name string `cbor:"1,keyasint"`
	// Threshold is the trust from which an item is promoted, (0, 1). Default .48.
	Threshold Micro `cbor:"2,keyasint"`
	// DemoteBelow is the trust below which a promoted item is demoted, [0, Threshold]. Default .44.
	DemoteBelow Micro `cbor:"3,keyasint"`
	// Z is the half width of the interval in standard errors, [0, 5]. Default 1.
	Z Micro `cbor:"4,keyasint"`
	// QuorumShare is the share of the jury that must be heard, (0, 1]. Default .75.
	QuorumShare Micro `cbor:"5,keyasint"`
	// MinCitations is the number of citations needed, at least 1. Default 5.
	MinCitations int64 `cbor:"6,keyasint"`
	// LeniencyK is the mass of reports on other items at which half of a juror's leniency is believed, > 0. Default 10.
	LeniencyK Micro `cbor:"7,keyasint"`
	// HeardMass is the mass from which a juror counts as heard, > 0. Default .5.
	HeardMass Micro `cbor:"8,keyasint"`
	// CapMin and CapTotal bound one juror's mass: max(CapMin, CapTotal/J), both > 0. Defaults 1.5 and 18.
	CapMin   Micro `cbor:"9,keyasint"`
	CapTotal Micro `cbor:"10,keyasint"`
	// PriorVariance is the variance of the prior of mean .5 and mass 1, [0, 1]. Default .06.
	PriorVariance Micro `cbor:"11,keyasint"`
}

// DefaultProfile returns the profile that was found by simulation.
func DefaultProfile() Profile {
	return Profile{
		Name:          "default",
		Threshold:     480_000,
		DemoteBelow:   440_000,
		Z:             One,
		QuorumShare:   750_000,
		MinCitations:  5,
		LeniencyK:     10 * One,
		HeardMass:     half,
		CapMin:        1_500_000,
		CapTotal:      18 * One,
		PriorVariance: 60_000,
	}
}

// StrictProfile returns the profile for fleets that want fewer and better shared items: threshold .49, z 1.3.
func StrictProfile() Profile {
	p := DefaultProfile()
	p.Name = "strict"
	p.Threshold = 490_000
	p.Z = 1_300_000
	return p
}

// Validate reports every field out of range at once, joined; nil when the profile can be used.
func (p Profile) Validate() error {
	var errs []error
	check := func(ok bool, field, want string, got int64) {
		if !ok {
			errs = append(errs, fmt.Errorf("trust profile %q: %s must be %s, got %d", p.Name, field, want, got))
		}
	}
	check(p.Threshold > 0 && p.Threshold < One, "threshold", "above 0 and below 1000000", p.Threshold)
	check(p.DemoteBelow >= 0 && p.DemoteBelow <= p.Threshold, "demote_below", "0..threshold", p.DemoteBelow)
	check(p.Z >= 0 && p.Z <= 5*One, "z", "0..5000000", p.Z)
	check(p.QuorumShare > 0 && p.QuorumShare <= One, "quorum_share", "1..1000000", p.QuorumShare)
	check(p.MinCitations >= 1, "min_citations", "at least 1", p.MinCitations)
	check(p.LeniencyK > 0, "leniency_k", "above 0", p.LeniencyK)
	check(p.HeardMass > 0, "heard_mass", "above 0", p.HeardMass)
	check(p.CapMin > 0, "cap_min", "above 0", p.CapMin)
	check(p.CapTotal > 0, "cap_total", "above 0", p.CapTotal)
	check(p.PriorVariance >= 0 && p.PriorVariance <= One, "prior_variance", "0..1000000", p.PriorVariance)
	return errors.Join(errs...)
}
