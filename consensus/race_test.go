//go:build race

package consensus

import "time"

// testHeartbeat is longer under the race detector: leaders of 200 ms lost their
// lease of 100 ms on a busy machine, which no test here is about.
const testHeartbeat = 600 * time.Millisecond

// raceDetector says that the tests run under the race detector.
const raceDetector = true
