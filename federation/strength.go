package federation

import "math/bits"

const (
	halfLifeHours = 30 * 24
	maxStretch    = 12      // a half-life is at most 360 days
	maxAgeHours   = 1 << 31 // far beyond any log; keeps the products in range
	// hourFactor is 2^62 * 2^(-1/720): what an hour leaves of a strength whose half-life is 30 days.
	hourFactor = 4607248464294791492
)

// hourly[h] is 2^62 * 2^(-h/720), made by integer multiplication alone so that it is the same everywhere.
var hourly = func() (table [halfLifeHours]uint64) {
	table[0] = 1 << 62
	for h := 1; h < halfLifeHours; h++ {
		table[h] = scale(table[h-1], hourFactor)
	}
	return table
}()

// scale returns a * factor / 2^62, rounded to nearest.
func scale(a, factor uint64) uint64 {
	high, low := bits.Mul64(a, factor)
	low, carry := bits.Add64(low, 1<<61, 0)
	high += carry
	return high<<2 | low>>62
}

// InitialStrength is the strength of a new experience whose outcome differed by delta from what was expected:
// .5 + .5 |delta|.
func InitialStrength(delta Micro) Micro {
	return store(.5 + float64(.5*unit(abs(clamp(delta, -One, One)))))
}

// StrengthAt is what is left of a strength after ageHours. The half-life is 30 days * (1+uses)/(1+harms), at most
// 360 days: each confirmed use stretches it, each harm shortens it. strength is clamped to [0, 1]; negative
// counts and ages are taken as 0. It never rises with age or harms and never falls with uses. Strength orders
// results; by itself it deletes nothing.
func StrengthAt(strength Micro, uses, harms int, ageHours int64) Micro {
	const limit = 1 << 20
	stretch := 1 + int64(min(max(uses, 0), limit))
	shrink := 1 + int64(min(max(harms, 0), limit))
	if stretch > maxStretch*shrink {
		stretch, shrink = maxStretch, 1
	}
	hours := clamp(ageHours, 0, maxAgeHours) * shrink / stretch
	halvings := hours / halfLifeHours
	if halvings >= 20 {
		return 0
	}
	left := scale(uint64(clamp(strength, 0, One))<<20, hourly[hours%halfLifeHours]) >> halvings
	return Micro((left + 1<<19) >> 20)
}

// StrengthHelped is the strength after a confirmed use: a quarter of the way to 1. Give it the strength as it
// stands ([StrengthAt]) and let the age start again.
func StrengthHelped(strength Micro) Micro {
	strength = clamp(strength, 0, One)
	return strength + (One-strength+3)/4
}

// StrengthHarmed is the strength after a harm: three quarters of what it was. Give it the strength as it stands
// ([StrengthAt]) and let the age start again.
func StrengthHarmed(strength Micro) Micro {
	return clamp(strength, 0, One) * 3 / 4
}
