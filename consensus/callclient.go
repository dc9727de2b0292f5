package consensus

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// errNotSent says that a request never left this node.
var errNotSent = errors.New("request was not sent")

// errAnswerLost says that a request left this node and no answer came.
var errAnswerLost = errors.New("answer was lost")

// callClient keeps one pipelined connection to each peer. Requests of all
// callers share it; the writer puts what has gathered into one packet.
type callClient struct {
	dial    func(ctx context.Context, addr string) (net.Conn, error)
	timeout time.Duration
	// fault lets tests lose requests and answers.
	fault *faults

	mu     sync.Mutex
	closed bool
	conns  map[string]*callConn
	wg     sync.WaitGroup
}

func newCallClient(dial func(ctx context.Context, addr string) (net.Conn, error), timeout time.Duration, f *faults) *callClient {
	return &callClient{dial: dial, timeout: timeout, fault: f, conns: map[string]*callConn{}}
}

// call sends a request to addr and waits for the answer, at most until over is
// closed; a nil one never is. Errors wrap errNotSent, errAnswerLost, ctx's
// error, errLeaderChanged or what the peer answered.
func (c *callClient) call(ctx context.Context, addr string, method byte, body []byte, over <-chan struct{}) ([]byte, error) {
	if err := errors.Join(c.fault.request(addr), c.fault.call(method)); err != nil {
		return nil, fmt.Errorf("call %s: %w: %w", addr, errNotSent, err)
	}
	conn, err := c.conn(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w: %w", addr, errNotSent, err)
	}
	answer, err := conn.roundTrip(ctx, method, body, over)
	if err == nil {
		err = c.fault.answer(addr)
	}
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", addr, err)
	}
	return answer, nil
}

// conn returns the connection to addr, dialling when there is none.
func (c *callClient) conn(ctx context.Context, addr string) (*callConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if conn := c.conns[addr]; conn != nil && !conn.isDead() {
		return conn, nil
	}
	conn := newCallConn(c, addr)
	c.conns[addr] = conn
	c.wg.Go(conn.run)
	return conn, ctx.Err()
}

// close drops every connection and waits for their goroutines.
func (c *callClient) close() {
	c.mu.Lock()
	c.closed = true
	for _, conn := range c.conns {
		conn.fail(ErrClosed)
	}
	c.mu.Unlock()
	c.wg.Wait()
}

// callConn is one connection: a queue of requests and the calls that wait.
type callConn struct {
	client *callClient
	addr   string
	queue  chan frame
	dead   chan struct{}

	mu      sync.Mutex
	err     error // why the connection is dead
	last    uint64
	pending map[uint64]*pendingCall
}

// pendingCall waits for its answer. sent is set just before its request is
// written: until then it certainly had no effect.
type pendingCall struct {
	answer chan callAnswer
	sent   bool
}

type callAnswer struct {
	frame frame
	err   error
}

func newCallConn(c *callClient, addr string) *callConn {
	return &callConn{
		client: c, addr: addr,
		queue: make(chan frame, 256), dead: make(chan struct{}), pending: map[uint64]*pendingCall{},
	}
}

func (c *callConn) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// fail ends the connection and answers every call that waits.
func (c *callConn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.dead)
	for _, p := range c.pending {
		reason := errNotSent
		if p.sent {
			reason = errAnswerLost
		}
		p.answer <- callAnswer{err: fmt.Errorf("%w: %w", reason, err)}
	}
	clear(c.pending)
}

func (c *callConn) roundTrip(ctx context.Context, method byte, body []byte, over <-chan struct{}) ([]byte, error) {
	p := &pendingCall{answer: make(chan callAnswer, 1)}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", errNotSent, c.err)
	}
	c.last++
	id := c.last
	c.pending[id] = p
	c.mu.Unlock()
	select {
	case c.queue <- frame{call: id, code: method, body: body}:
	case <-c.dead:
	case <-ctx.Done():
		return nil, c.giveUp(id, ctx.Err())
	case <-over:
		return nil, c.giveUp(id, errLeaderChanged)
	}
	select {
	case a := <-p.answer:
		if a.err != nil {
			return nil, a.err
		}
		if a.frame.code != statusOK {
			return nil, remoteError(a.frame.code, string(a.frame.body))
		}
		return a.frame.body, nil
	case <-ctx.Done():
		return nil, c.giveUp(id, ctx.Err())
	case <-over:
		return nil, c.giveUp(id, errLeaderChanged)
	}
}

// giveUp forgets a call because of cause and says whether its request may have
// arrived. One that has not been written yet never will be.
func (c *callConn) giveUp(id uint64, cause error) error {
	c.mu.Lock()
	p := c.pending[id]
	delete(c.pending, id)
	c.mu.Unlock()
	reason := errNotSent
	if p == nil || p.sent {
		reason = errAnswerLost
	}
	return fmt.Errorf("%w: %w", reason, cause)
}

// markSent reports whether the call still waits.
func (c *callConn) markSent(id uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pending[id]
	if p != nil {
		p.sent = true
	}
	return p != nil
}

// run dials, then writes what is queued until the connection dies.
func (c *callConn) run() {
	conn, err := c.connect()
	if err != nil {
		c.fail(err)
		return
	}
	defer conn.Close()
	c.client.wg.Go(func() { c.read(conn) })
	c.fail(c.write(conn))
}

// connect dials and gives up when the connection is declared dead.
func (c *callConn) connect() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.client.timeout)
	defer cancel()
	c.client.wg.Go(func() {
		select {
		case <-c.dead:
			cancel()
		case <-ctx.Done():
		}
	})
	return c.client.dial(ctx, c.addr)
}

// write sends requests and flushes whenever the queue is empty.
func (c *callConn) write(conn net.Conn) error {
	w := bufio.NewWriterSize(conn, 64<<10)
	for {
		select {
		case f := <-c.queue:
			if c.markSent(f.call) {
				_ = conn.SetWriteDeadline(time.Now().Add(c.client.timeout))
				if err := writeFrame(w, f); err != nil {
					return err
				}
			}
			if len(c.queue) > 0 {
				continue
			}
			if err := w.Flush(); err != nil {
				return err
			}
		case <-c.dead:
			return ErrClosed
		}
	}
}

// read hands answers to the calls that wait for them.
func (c *callConn) read(conn net.Conn) {
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		f, err := readFrame(r)
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		p := c.pending[f.call]
		delete(c.pending, f.call)
		c.mu.Unlock()
		if p != nil {
			p.answer <- callAnswer{frame: f}
		}
	}
}
