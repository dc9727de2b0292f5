package consensus

import (
	"fmt"
	"sync"

	"github.com/hashicorp/raft"
)

// addressBook knows where nodes are. What a node said of itself lately comes
// before what the configuration in the log says, so that a node that moved is
// reached before the change is committed. It implements
// raft.ServerAddressProvider: raft asks it whenever it dials.
type addressBook struct {
	self     raft.ServerID
	selfAddr raft.ServerAddress

	mu    sync.Mutex
	heard map[raft.ServerID]raft.ServerAddress
}

// ServerAddr implements raft.ServerAddressProvider. For an unknown id raft
// falls back to the configuration.
func (b *addressBook) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	if id == b.self {
		return b.selfAddr, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if addr, ok := b.heard[id]; ok {
		return addr, nil
	}
	return "", fmt.Errorf("address of node %s has not been heard", id)
}

// learn notes what a node said.
func (b *addressBook) learn(id, addr string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.heard == nil {
		b.heard = map[raft.ServerID]raft.ServerAddress{}
	}
	b.heard[raft.ServerID(id)] = raft.ServerAddress(addr)
}

// clear drops what was heard: a new configuration says it, and a node that
// moved meanwhile makes itself heard again.
func (b *addressBook) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.heard)
}

// resolve is where id is, given what the configuration says.
func (b *addressBook) resolve(id raft.ServerID, configured raft.ServerAddress) string {
	if addr, err := b.ServerAddr(id); err == nil {
		return string(addr)
	}
	return string(configured)
}
