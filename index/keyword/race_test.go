//go:build race

package keyword

// raceEnabled: pools drop what they hold at random under the race detector.
const raceEnabled = true
