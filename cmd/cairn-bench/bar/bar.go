// Package bar says whether a measured figure meets what is demanded of it.
package bar

// Holds reports whether value meets a bar. op is "<=", ">=", ">", or "" where nothing is demanded; another op, and NaN
// against any bar, do not hold.
func Holds(value float64, op string, bar float64) bool {
	switch op {
	case "":
		return true
	case "<=":
		return value <= bar
	case ">=":
		return value >= bar
	case ">":
		return value > bar
	}
	return false
}
