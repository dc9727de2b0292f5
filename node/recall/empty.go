package recall

// Reasons of an empty recall.
const (
	EmptyNoExperiences = "no experiences"
	EmptyFilters       = "filters"
	EmptyFloor         = "floor"
)

// WhyEmpty says why a recall gives nothing: the pools hold no experience, the filters let none through, or none was
// relevant enough.
func WhyEmpty(total, afterFilters int) string {
	switch {
	case total <= 0:
		return EmptyNoExperiences
	case afterFilters <= 0:
		return EmptyFilters
	}
	return EmptyFloor
}
