package federation

// Route is where the gate sends an attempt or what was made from it.
type Route string

// The routes, from highest to lowest.
const (
	RouteLongTerm Route = "long_term"
	RouteBuffer   Route = "buffer"
	RouteDiscard  Route = "discard"
)

// Valid reports whether r is a known route.
func (r Route) Valid() bool { return r.height() > 0 }

func (r Route) height() int {
	switch r {
	case RouteLongTerm:
		return 3
	case RouteBuffer:
		return 2
	case RouteDiscard:
		return 1
	}
	return 0
}

// HighestRoute returns the route of an experience made from several attempts: the highest of theirs, discard
// when there is none.
func HighestRoute(routes ...Route) Route {
	highest := RouteDiscard
	for _, route := range routes {
		if route.height() > highest.height() {
			highest = route
		}
	}
	return highest
}

// GateInput is what [RouteOf] looks at. Delta is actual minus expected reward in [-1, 1].
type GateInput struct {
	Success     bool
	Delta       Micro
	Long        Micro // from [Thresholds]
	Buffer      Micro
	WarmUp      bool // one of the agent's first 10 outcomes
	PureFailure bool // no attempt of the group succeeded
	Mixed       bool // what is routed is the contrast of a group with both outcomes
	Conflict    bool // opposite outcome to a trusted experience with a similar scenario
}

// Reasons of [RouteOf].
const (
	ReasonConflict          = "conflict"           // contradicts a trusted experience: kept whatever delta is
	ReasonContrast          = "contrast"           // both outcomes in one group
	ReasonWarmUp            = "warm_up"            // first outcomes of an agent are kept
	ReasonSurprisingSuccess = "surprising_success" // |delta| >= long
	ReasonSurprisingFailure = "surprising_failure" // |delta| >= long, a caution
	ReasonNotable           = "notable"            // |delta| >= buffer
	ReasonExpected          = "expected"           // |delta| below both
)

// RouteOf applies the gate's rules in this order: a conflict and a contrast are long-term; in the warm-up a
// success is long-term and a failure buffered; a success or a pure failure with |delta| >= Long is long-term
// (the failure as a caution); |delta| >= Buffer is buffered; the rest is discarded.
func RouteOf(in GateInput) (Route, string) {
	size := abs(clamp(in.Delta, -One, One))
	switch {
	case in.Conflict:
		return RouteLongTerm, ReasonConflict
	case in.Mixed:
		return RouteLongTerm, ReasonContrast
	case in.WarmUp && in.Success:
		return RouteLongTerm, ReasonWarmUp
	case in.WarmUp:
		return RouteBuffer, ReasonWarmUp
	case in.Success && size >= in.Long:
		return RouteLongTerm, ReasonSurprisingSuccess
	case in.PureFailure && !in.Success && size >= in.Long:
		return RouteLongTerm, ReasonSurprisingFailure
	case size >= in.Buffer:
		return RouteBuffer, ReasonNotable
	}
	return RouteDiscard, ReasonExpected
}
