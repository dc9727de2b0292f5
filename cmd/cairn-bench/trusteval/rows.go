package trusteval

import "math"

// cells are the worlds of the table, by name.
var cells = map[string]world{
	"honest2":        fleet(2),
	"honest3":        fleet(3),
	"honest6":        quietAfter(fleet(6)),
	"honest24":       fleet(24),
	"strict24":       strictly(fleet(24)),
	"base01":         onBases(fleet(24), .1, .1, .1, .1),
	"isolated24":     apart(fleet(24)),
	"ring12":         fleet(24).attacked(ring, 12),
	"one_owner12":    ofOneOwner(fleet(24).attacked(ring, 12)),
	"sybil48":        fleet(24).attacked(ring, 48),
	"balanced_ring":  fleet(24).attacked(balancedRing, 12),
	"aimed_ring12":   fleet(24).attacked(aimedRing, 12),
	"slander12":      atOnce(fleet(24).attacked(slander, 12)),
	"late_slander12": fleet(24).attacked(slander, 12),
	"rich3":          rich(fleet(3)),
	"fleet6_ring3":   fleet(6).attacked(ring, 3),
}

func quietAfter(w world) world { w.silence = 60; return w }

func strictly(w world) world { w.strict = true; return w }

func onBases(w world, bases ...float64) world { w.bases = bases; return w }

func apart(w world) world { w.isolated = true; return w }

func ofOneOwner(w world) world { w.oneOwner = true; return w }

func atOnce(w world) world { w.attackFrom = 0; return w }

func rich(w world) world { w.mix = richMix; return w }

// spec is a row: what it takes from the runs of its cell. Of two cells the difference of runs of one seed counts.
type spec struct {
	name      string
	cell      string
	less      string // cell whose value is subtracted
	value     func(figures) float64
	reference float64 // what a prototype of the rule gave in a world of its own; NaN for none
	op        string  // ">=", "<=" or "" for a row without a bar
	bar       float64
	what      string
}

func goodEver(f figures) float64    { return f.goodEver }
func good(f figures) float64        { return f.good }
func nominated(f figures) float64   { return f.nominated }
func precision(f figures) float64   { return f.precision }
func harmful(f figures) float64     { return f.harmful }
func hostile(f figures) float64     { return f.hostile }
func hostileEver(f figures) float64 { return f.hostileEver }
func success(f figures) float64     { return f.success }
func silence(f figures) float64     { return f.silenceDemoted }
func honestNamed(f figures) float64 { return f.namedHonest }
func hostileNamed(f figures) float64 {
	return f.namedHostile
}

const (
	whatGood      = "share of the good experiences that were promoted"
	whatGood84    = "share of the good experiences in the meta-pool on day 84"
	whatPrecision = "share of good ones in the meta-pool on day 84"
	whatNamed     = "share of the attackers that a sign of collusion names on day 84"
	whatHostile   = "share of the attackers' experiences in the meta-pool on day 84"
)

var none = math.NaN()

// table lists the rows in order.
var table = []spec{
	{"honest2_good", "honest2", "", goodEver, .52, ">=", .42, whatGood + "; 2 principals, 60 tasks a day"},
	{"honest3_good", "honest3", "", goodEver, .64, ">=", .55, whatGood + "; 3 principals"},
	{"honest6_good", "honest6", "", goodEver, .67, ">=", .57, whatGood + "; 6 principals"},
	{"honest24_good", "honest24", "", goodEver, .57, ">=", .50, whatGood + "; 24 principals, 240 tasks a day"},
	{"honest3_good_day84", "honest3", "", good, none, "", 0, whatGood84},
	{"honest24_good_day84", "honest24", "", good, none, "", 0, whatGood84},
	{"honest24_nominated", "honest24", "", nominated, none, "", 0, "share of the good experiences that reached the shelf"},
	{"honest3_precision", "honest3", "", precision, .75, ">=", .68, whatPrecision},
	{"honest24_precision", "honest24", "", precision, .77, ">=", .72, whatPrecision},
	{"honest24_harmful", "honest24", "", harmful, 0, "<=", .02, "share of harmful ones in the meta-pool on day 84"},
	{"strict24_precision", "strict24", "", precision, .90, ">=", .85, whatPrecision + "; strict profile"},
	{"strict24_good", "strict24", "", goodEver, .32, ">=", .25, whatGood + "; strict profile"},
	{"base01_good", "base01", "", goodEver, .65, ">=", .50, whatGood + "; all task types of base success .1"},
	{"silence_demoted", "honest6", "", silence, 0, "<=", 0, "share of the meta-pool demoted in 60 days without a report"},
	{"ring12_day84", "ring12", "", hostile, .12, "<=", .18, whatHostile + "; 12 principals that praise each other, beside 24"},
	{"ring12_ever", "ring12", "", hostileEver, .46, "<=", .52, "share of the attackers' experiences that were promoted"},
	{"sybil12_one_owner_day84", "one_owner12", "", hostile, .02, "<=", .06, whatHostile + "; the 12 are agents of one principal"},
	{"sybil48_day84", "sybil48", "", hostile, .32, "", 0, whatHostile + "; 48 principals beside 24"},
	{"balanced_ring_day84", "balanced_ring", "", hostile, .49, "", 0, whatHostile + "; they slander as much as they praise"},
	{"aimed_ring12_day84", "aimed_ring12", "", hostile, none, "", 0, whatHostile + "; they ask for what they praise and praise it twice"},
	{"slander12_good", "slander12", "", goodEver, .43, ">=", .35, whatGood + "; beside 12 principals that slander"},
	{"slander12_late_good", "late_slander12", "", goodEver, none, "", 0, whatGood + "; the slanderers earn standing for 28 days first"},
	{"rich3_good", "rich3", "", goodEver, .55, ">=", .45, whatGood + "; 60 % of the experiences are good"},
	{"fleet6_ring3_good", "fleet6_ring3", "", goodEver, .65, ">=", .50, whatGood + "; 3 of 9 principals are a ring"},
	{"signs_honest24_named", "honest24", "", honestNamed, none, "", 0, "share of the honest principals that a sign of collusion names on day 84"},
	{"signs_slander12_named", "slander12", "", hostileNamed, none, "", 0, whatNamed},
	{"signs_slander12_honest", "slander12", "", honestNamed, none, "", 0, "share of the honest principals named beside them"},
	{"signs_ring12_named", "ring12", "", hostileNamed, none, "", 0, whatNamed},
	{"signs_balanced_ring_named", "balanced_ring", "", hostileNamed, none, "", 0, whatNamed},
	{"signs_aimed_ring12_named", "aimed_ring12", "", hostileNamed, none, "", 0, whatNamed},
	{"sharing_lift", "honest24", "isolated24", success, .081, ">=", .06, "success of honest agents, with sharing less without"},
}
