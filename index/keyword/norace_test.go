//go:build !race

package keyword

const raceEnabled = false
