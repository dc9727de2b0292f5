package consensus

import (
	"maps"
	"sync"
)

// StateHasher is implemented by a StateMachine whose state has a hash that is
// equal on every node that has applied the same commands. StateHash is called
// between two calls of Apply and must be cheap, such as a hash chained over
// the commands. Nodes compare the hashes; one that differs from a majority
// halts.
type StateHasher interface {
	StateHash() []byte
}

// hashEvery is the distance between two indexes at which the state's hash is
// noted. Every node notes the same ones, however its batches are cut.
const hashEvery = 1024

// hashesKept is how many boundaries are remembered.
const hashesKept = 8

// hashLog remembers the state's hash at the newest boundaries: the hash noted
// for a multiple of hashEvery covers exactly the commands up to it.
type hashLog struct {
	mu     sync.Mutex
	hashes map[uint64][]byte
}

func (l *hashLog) note(boundary uint64, hash []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hashes == nil {
		l.hashes = map[uint64][]byte{}
	}
	l.hashes[boundary] = append([]byte(nil), hash...)
	for index := range l.hashes {
		if index+hashesKept*hashEvery <= boundary {
			delete(l.hashes, index)
		}
	}
}

// clear forgets everything: the state was replaced.
func (l *hashLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.hashes)
}

func (l *hashLog) all() map[uint64][]byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.hashes)
}
