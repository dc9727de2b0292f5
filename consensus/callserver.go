package consensus

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// callsPerConn bounds the requests of one connection that are being answered.
const callsPerConn = 1024

// callServer answers the requests of one connection with fn.
type callServer struct {
	fn      func(ctx context.Context, from string, method byte, body []byte) ([]byte, error)
	timeout time.Duration
}

// serve answers until the connection dies. Requests run concurrently; their
// context ends with the connection.
func (s callServer) serve(conn *muxConn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(context.Background())
	answers := make(chan frame, callsPerConn)
	var wg sync.WaitGroup
	wg.Go(func() {
		writeAnswers(conn, answers, s.timeout)
		// The reader below notices that the connection is closed.
		_ = conn.Close()
	})
	slots := make(chan struct{}, callsPerConn)
	var calls sync.WaitGroup
	r := bufio.NewReaderSize(conn, 64<<10)
	for {
		f, err := readFrame(r)
		if err != nil {
			break
		}
		slots <- struct{}{}
		calls.Go(func() {
			answers <- s.answer(ctx, conn.from, f)
			<-slots
		})
	}
	cancel()
	calls.Wait()
	close(answers)
	wg.Wait()
}

func (s callServer) answer(ctx context.Context, from string, f frame) frame {
	body, err := s.fn(ctx, from, f.code, f.body)
	if err != nil {
		return frame{call: f.call, code: statusOf(err), body: []byte(err.Error())}
	}
	return frame{call: f.call, code: statusOK, body: body}
}

// writeAnswers writes until answers is closed. After an error it goes on to
// take answers, so that nobody waits for it.
func writeAnswers(conn net.Conn, answers <-chan frame, timeout time.Duration) {
	w := bufio.NewWriterSize(conn, 64<<10)
	broken := false
	for f := range answers {
		if broken {
			continue
		}
		_ = conn.SetWriteDeadline(time.Now().Add(timeout))
		err := writeFrame(w, f)
		if err == nil && len(answers) == 0 {
			err = w.Flush()
		}
		if err != nil {
			broken = true
			_ = conn.Close()
		}
	}
}
