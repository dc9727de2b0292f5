package clusterbench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"cairn/consensus"
)

// NodeOptions are what a measured node is started with.
type NodeOptions struct {
	Dir    string   // data folder
	Peer   string   // host:port for peers
	Client string   // host:port for clients
	Join   []string // peer ports of the others
	Expect int      // nodes of the site; see consensus.Config
	Log    io.Writer
}

// Node runs one node until ctx is done and then closes it: its leadership is handed over first.
func Node(ctx context.Context, o NodeOptions) error {
	log := slog.New(slog.NewTextHandler(o.Log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	state, err := openKV(filepath.Join(o.Dir, "state"))
	if err != nil {
		return err
	}
	group, err := consensus.Open(ctx, consensus.Config{
		Dir: filepath.Join(o.Dir, "raft"), PeerAddr: o.Peer, PeerInsecure: true, Join: o.Join, BootstrapExpect: o.Expect, Logger: log,
	}, state)
	if err != nil {
		return errors.Join(err, state.close())
	}
	n := &node{group: group, state: state}
	err = n.serve(ctx, o.Client)
	return errors.Join(err, group.Close(), state.close())
}

// node answers clients.
type node struct {
	group *consensus.Group
	state *kv
}

// callTimeout bounds one request on the node.
const callTimeout = 10 * time.Second

// serve accepts connections until ctx is done. The connections stay open while the group closes, so that answers under way
// arrive.
func (n *node) serve(ctx context.Context, addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for clients: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a client: %w", err)
		}
		go n.talk(conn)
	}
}

func (n *node) talk(conn net.Conn) {
	answers := make(chan message, 256)
	go writeAll(conn, answers)
	r := bufio.NewReaderSize(conn, 64<<10)
	var calls sync.WaitGroup
	for {
		m, err := readMessage(r)
		if err != nil {
			break
		}
		calls.Go(func() {
			body, err := n.answer(m)
			if err != nil {
				answers <- message{call: m.call, code: statusFailed, body: []byte(err.Error())}
				return
			}
			answers <- message{call: m.call, code: statusOK, body: body}
		})
	}
	_ = conn.Close()
	calls.Wait()
	close(answers)
}

func (n *node) answer(m message) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	switch m.code {
	case opPut:
		_, err := n.group.Propose(ctx, m.body)
		return nil, err
	case opGet:
		if err := n.group.Barrier(ctx); err != nil {
			return nil, err
		}
		return n.state.get(m.body)
	case opLeads:
		if !n.group.IsLeader() {
			return nil, consensus.ErrNotLeader
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("unknown operation %d", m.code)
	}
}
