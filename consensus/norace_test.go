//go:build !race

package consensus

import "time"

// testHeartbeat is the heartbeat timeout of nodes in tests.
const testHeartbeat = 200 * time.Millisecond

// raceDetector says that the tests run under the race detector.
const raceDetector = false
