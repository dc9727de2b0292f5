package recall

// Reasons of an empty recall.
const (
	EmptyNoExperiences = "no experiences"
	EmptyFilters       = "filters"
	EmptyFloor         = "floor"
)

// WhyEmpty says why a recall found nothing: the pools hold no experience, the filters let none through, or none was
// relevant enough. It returns "" when aboveFloor is not 0.
func WhyEmpty(total, afterFilters, aboveFloor int) string {
	switch {
	case aboveFloor > 0:
		return ""
	case total <= 0:
		return EmptyNoExperiences
	case afterFilters <= 0:
		return EmptyFilters
	}
	return EmptyFloor
}
