package consensus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/oklog/ulid/v2"
)

// A connection that carries a copy of the state goes like this. The sender
// says what it is for (1 byte), the index that the receiver needs (8 bytes, big
// endian) and the copy's ticket (26 bytes). The receiver answers with one byte.
// After streamSend follow the archive and one more answer.
const (
	// purposeFollow: the receiver lacks entries that the log no longer has.
	purposeFollow byte = 'F'
	// purposeRestore: the copy is a backup that an entry will refer to.
	purposeRestore byte = 'R'

	streamSend byte = 'S' // send the archive
	streamHave byte = 'H' // the state is there already; the index of the own snapshot follows
	streamDone byte = 'D' // the archive is stored
)

const streamHello = 1 + 8 + ticketBytes

// streamIdle is the silence after which either side gives up.
const streamIdle = 30 * time.Second

// idleConn is a connection whose deadline moves with every byte.
type idleConn struct{ net.Conn }

func (c idleConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(streamIdle))
	return c.Conn.Read(p)
}

func (c idleConn) Write(p []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(streamIdle))
	return c.Conn.Write(p)
}

// offerState offers a copy of the state to addr and calls archive to write it
// if the receiver wants it. It reports whether the copy was sent.
func (g *Group) offerState(ctx context.Context, addr string, purpose byte, index uint64, ticket string,
	archive func(io.Writer) error) (have uint64, sent bool, err error) {
	if err := g.cfg.faults.request(addr); err != nil {
		return 0, false, err
	}
	dial, cancel := context.WithTimeout(ctx, g.cfg.PeerTimeout)
	defer cancel()
	raw, err := g.mux.dial(dial, kindSnapshot, addr)
	if err != nil {
		return 0, false, err
	}
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	conn := idleConn{raw}
	hello := append(binary.BigEndian.AppendUint64([]byte{purpose}, index), ticket...)
	if _, err := conn.Write(hello); err != nil {
		return 0, false, err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return 0, false, err
	}
	switch answer[0] {
	case streamHave:
		var own [8]byte
		_, err := io.ReadFull(conn, own[:])
		return binary.BigEndian.Uint64(own[:]), false, err
	case streamSend:
	default:
		return 0, false, fmt.Errorf("unexpected answer %q", answer[0])
	}
	if err := archive(conn); err != nil {
		return 0, false, err
	}
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return 0, false, fmt.Errorf("the receiver did not take the copy: %w", err)
	}
	if answer[0] != streamDone {
		return 0, false, fmt.Errorf("the receiver did not take the copy: %q", answer[0])
	}
	return 0, true, nil
}

// sendState brings the present state to a follower that needs index, and
// returns the ticket under which the follower has it. The state is copied only
// when the follower wants it.
func (g *Group) sendState(ctx context.Context, addr string, index uint64) (string, error) {
	ticket := ulid.Make().String()
	var m Manifest
	have, sent, err := g.offerState(ctx, addr, purposeFollow, index, ticket, func(w io.Writer) (err error) {
		restored := g.restoredTickets() // before the copy, which then has them
		c, err := g.takeCheckpoint(ticket)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, c.remove()) }()
		c.manifest.Restored = restored
		m = c.manifest
		return writeArchive(w, g.cfg.fs, c.dir, m)
	})
	if err != nil {
		return "", fmt.Errorf("send state to %s: %w", addr, err)
	}
	if have > index {
		// Raft cannot go back to an older snapshot. A newer one costs nothing.
		g.snapshotSoon()
		return "", fmt.Errorf("send state to %s: it has snapshot %d, this node only %d", addr, have, index)
	}
	if !sent {
		return noTicket, nil
	}
	g.log.Info("state sent", "address", addr, "index", m.Index, "bytes", m.Bytes())
	return ticket, nil
}

// snapshotSoon takes a snapshot without waiting for it. It is called while raft
// sends, so it must not wait for raft.
func (g *Group) snapshotSoon() {
	if g.enter() != nil {
		return
	}
	go func() {
		defer g.leave()
		if err := g.inst.Load().raft.Snapshot().Error(); err != nil {
			g.log.Debug("snapshot", "error", err)
		}
	}()
}

// receiveState is the other side of offerState.
func (g *Group) receiveState(raw *muxConn) {
	defer raw.Close()
	conn := idleConn{raw}
	if err := g.receiveFrom(conn); err != nil {
		g.log.Warn("receive state", "from", raw.from, "error", err)
	}
}

func (g *Group) receiveFrom(conn idleConn) error {
	hello := make([]byte, streamHello)
	if _, err := io.ReadFull(conn, hello); err != nil {
		return err
	}
	purpose, index, ticket := hello[0], binary.BigEndian.Uint64(hello[1:]), string(hello[9:])
	if purpose == purposeFollow && g.run.applied.Load() >= index {
		var own uint64
		if s := g.snaps.latest(); s != nil {
			own = s.Index
		}
		_, err := conn.Write(binary.BigEndian.AppendUint64([]byte{streamHave}, own))
		return err
	}
	if _, err := conn.Write([]byte{streamSend}); err != nil {
		return err
	}
	if purpose == purposeRestore {
		if err := g.expectRestore(ticket); err != nil {
			return err
		}
	}
	if _, err := g.incoming.receive(ticket, g.keptTickets, conn); err != nil {
		if purpose == purposeRestore {
			g.dropRestore(func(t string) bool { return t == ticket })
		}
		return err
	}
	_, err := conn.Write([]byte{streamDone})
	return err
}

// keptTickets are the copies that are still needed.
func (g *Group) keptTickets() []string {
	keep := g.restoreTickets()
	if s := g.snaps.latest(); s != nil && s.Pending != "" {
		keep = append(keep, s.Pending)
	}
	return keep
}
