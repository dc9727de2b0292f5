package consensus

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/raft"
)

// addressBook knows where nodes are. What a node said of itself lately comes
// before what the configuration in the log says, so that a node that moved is
// reached before the change is committed. It implements
// raft.ServerAddressProvider: raft asks it whenever it dials.
//
// Addresses of other nodes have the form id@host:port. The id goes into the
// greeting, and a node with another id refuses the connection: a node whose
// folder was wiped must not vote or acknowledge in the name of the old one at
// the same address.
type addressBook struct {
	self     raft.ServerID
	selfAddr raft.ServerAddress
	// configured lists the members in the log.
	configured func() []raft.Server

	mu    sync.Mutex
	heard map[raft.ServerID]raft.ServerAddress
}

// ServerAddr implements raft.ServerAddressProvider. Raft also asks for the
// own address, to tell peers, and gets it without an id.
func (b *addressBook) ServerAddr(id raft.ServerID) (raft.ServerAddress, error) {
	if id == b.self {
		return b.selfAddr, nil
	}
	b.mu.Lock()
	addr, ok := b.heard[id]
	b.mu.Unlock()
	if ok {
		return withID(id, addr), nil
	}
	for _, s := range b.configured() {
		if s.ID == id {
			return withID(id, s.Address), nil
		}
	}
	return "", fmt.Errorf("address of node %s is unknown", id)
}

func withID(id raft.ServerID, addr raft.ServerAddress) raft.ServerAddress {
	return raft.ServerAddress(id) + "@" + addr
}

// splitID parts id@host:port; id is empty for a plain address.
func splitID(addr string) (id, hostport string) {
	if before, after, ok := strings.Cut(addr, "@"); ok {
		return before, after
	}
	return "", addr
}

// plainAddr is addr without an id.
func plainAddr(addr string) string {
	_, hostport := splitID(addr)
	return hostport
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

// resolve is where id is, given what the caller thinks.
func (b *addressBook) resolve(id raft.ServerID, fallback raft.ServerAddress) string {
	if addr, err := b.ServerAddr(id); err == nil {
		return string(addr)
	}
	return string(withID(id, fallback))
}
