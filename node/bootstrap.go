package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"cairn/consensus"
	"cairn/node/api"
	"cairn/node/store"
)

// bootstrap finds the admin's key where this folder holds one, and waits until this node has the site's state or has made
// the site. A node that has the state from before a restart goes on without a leader: it answers reads, and says of the
// rest that there is no quorum.
func (n *Node) bootstrap(ctx context.Context) error {
	data, err := os.ReadFile(n.AdminKeyFile())
	if err == nil {
		n.adminKey = strings.TrimSpace(string(data))
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for {
		caught := n.catchUp(ctx)
		site, err := n.site()
		if err != nil {
			return err
		}
		switch {
		case errors.Is(caught, consensus.ErrRemoved) || errors.Is(caught, consensus.ErrHalted) || ctx.Err() != nil:
			return caught
		case site != nil:
			if caught != nil {
				n.log.WarnContext(ctx, "no leader yet: the node starts without a quorum", "error", caught)
			}
			return nil
		case caught != nil:
			n.log.InfoContext(ctx, "waiting for the site", "reason", caught)
		case n.makesSite():
			if err := n.makeSite(ctx); err == nil {
				return nil
			} else if !unavailable(err) {
				return err
			}
		}
		if err := n.pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits a moment between two looks at a site that is not there yet.
func (n *Node) pause(ctx context.Context) error {
	t := time.NewTimer(50 * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-n.store.Changed():
	case <-n.group.Removed():
		return consensus.ErrRemoved
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// makesSite reports whether this node is the one of a new site that gives it its identity.
func (n *Node) makesSite() bool {
	return n.group.IsLeader() && (len(n.cfg.Join) == 0 || n.cfg.BootstrapExpect > 1)
}

func unavailable(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeUnavailable
}

// catchUp waits for what the log holds from before a restart, or for the site that the node joins.
func (n *Node) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := n.group.Barrier(ctx); err != nil {
		return fmt.Errorf("wait for a leader: %w", err)
	}
	return nil
}

// makeSite proposes the site's identity with the admin's key of this folder. Where another node was first, its key stands,
// and the one made here is thrown away.
func (n *Node) makeSite(ctx context.Context) error {
	if n.adminKey == "" {
		n.adminKey = newKey()
		if err := os.WriteFile(n.AdminKeyFile(), []byte(n.adminKey+"\n"), 0o600); err != nil {
			return err
		}
	}
	body := store.Bootstrap{Site: ulid.Make().String(), Admin: store.AgentKey{ID: ulid.Make().String(), Hash: sha256.Sum256([]byte(n.adminKey))}}
	if _, err := rand.Read(body.Key[:]); err != nil {
		return err
	}
	if _, err := n.propose(ctx, api.Caller{}, api.Write{}, store.KindBootstrap, "", body); err != nil {
		return err
	}
	if _, err := n.Authenticate(ctx, n.adminKey); err != nil {
		n.adminKey = ""
		return os.Remove(n.AdminKeyFile())
	}
	return nil
}

// site is the site's identity, nil before this node knows it.
func (n *Node) site() (*store.Site, error) {
	v, err := n.store.View()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	return v.Site()
}
