package clusterbench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// A message between a client and a node is its length in 4 bytes, the number of the call in 8, one byte that is the
// operation of a request and the status of an answer, and a body. Answers come in any order.
type message struct {
	call uint64
	code byte
	body []byte
}

const (
	opPut byte = iota + 1
	opGet
	opLeads
)

const (
	statusOK byte = iota
	statusFailed
)

const (
	messageHeader = 9
	maxMessage    = 1 << 20
)

func writeMessage(w *bufio.Writer, m message) error {
	var head [4 + messageHeader]byte
	binary.BigEndian.PutUint32(head[:], uint32(messageHeader+len(m.body)))
	binary.BigEndian.PutUint64(head[4:], m.call)
	head[12] = m.code
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(m.body)
	return err
}

func readMessage(r *bufio.Reader) (message, error) {
	var head [4 + messageHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < messageHeader || size > maxMessage {
		return message{}, fmt.Errorf("message of %d bytes", size)
	}
	m := message{call: binary.BigEndian.Uint64(head[4:]), code: head[12], body: make([]byte, size-messageHeader)}
	_, err := io.ReadFull(r, m.body)
	return m, err
}

// writeAll writes what comes and flushes whenever nothing waits. It ends when messages is closed or the connection fails,
// and then goes on to take messages so that nobody waits for it.
func writeAll(conn net.Conn, messages <-chan message) {
	w := bufio.NewWriterSize(conn, 64<<10)
	for m := range messages {
		err := writeMessage(w, m)
		if err == nil && len(messages) == 0 {
			err = w.Flush()
		}
		if err != nil {
			_ = conn.Close()
			break
		}
	}
	for range messages { //nolint:revive // drained on purpose
	}
}

// client is one pipelined connection to a node, shared by any number of callers.
type client struct {
	conn  net.Conn
	queue chan message

	mu      sync.Mutex
	err     error
	last    uint64
	pending map[uint64]chan message
	senders sync.WaitGroup
}

func dial(ctx context.Context, addr string) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, queue: make(chan message, 256), pending: map[uint64]chan message{}}
	go writeAll(conn, c.queue)
	go c.read()
	return c, nil
}

func (c *client) read() {
	r := bufio.NewReaderSize(c.conn, 64<<10)
	for {
		m, err := readMessage(r)
		if err != nil {
			c.fail(err)
			return
		}
		c.mu.Lock()
		ch := c.pending[m.call]
		delete(c.pending, m.call)
		c.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

func (c *client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = fmt.Errorf("connection lost: %w", err)
	}
	for _, ch := range c.pending {
		close(ch)
	}
	clear(c.pending)
}

// close ends the connection; calls under way fail.
func (c *client) close() {
	_ = c.conn.Close()
	c.fail(net.ErrClosed)
	c.senders.Wait()
	close(c.queue)
}

func (c *client) call(ctx context.Context, op byte, body []byte) ([]byte, error) {
	answer := make(chan message, 1)
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.last++
	id := c.last
	c.pending[id] = answer
	c.senders.Add(1)
	c.mu.Unlock()
	c.queue <- message{call: id, code: op, body: body}
	c.senders.Done()
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return nil, errors.New("connection lost")
		case m.code != statusOK:
			return nil, errors.New(string(m.body))
		}
		return m.body, nil
	case <-ctx.Done():
		c.mu.Lock()
		delete(c.pending, id)
		c.mu.Unlock()
		return nil, ctx.Err()
	}
}
