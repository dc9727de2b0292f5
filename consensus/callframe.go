package consensus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame on a calls connection is
//
//	bytes 0-3   length of what follows, big endian
//	bytes 4-11  number of the call, chosen by the caller
//	byte 12     method of a request, status of an answer
//	rest        body
//
// Answers come in any order.
type frame struct {
	call uint64
	code byte
	body []byte
}

const frameHeader = 9

// maxFrameBytes leaves room for the largest command and its surroundings.
const maxFrameBytes = MaxCommandBytes + 64<<10

func writeFrame(w *bufio.Writer, f frame) error {
	var head [4 + frameHeader]byte
	binary.BigEndian.PutUint32(head[:], uint32(frameHeader+len(f.body)))
	binary.BigEndian.PutUint64(head[4:], f.call)
	head[12] = f.code
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(f.body)
	return err
}

func readFrame(r *bufio.Reader) (frame, error) {
	var head [4 + frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size < frameHeader || size > maxFrameBytes {
		return frame{}, fmt.Errorf("frame of %d bytes: %w", size, ErrCorrupt)
	}
	f := frame{call: binary.BigEndian.Uint64(head[4:]), code: head[12], body: make([]byte, size-frameHeader)}
	_, err := io.ReadFull(r, f.body)
	return f, err
}

// Methods of a request.
const (
	methodPropose byte = iota + 1
	methodProposeFreeing
	methodProposeRestore
	methodReadIndex
	methodTerm
	methodReport
	methodJoin
	methodRemove
	methodTransfer
	methodCommit
	methodFill
)

// Statuses of an answer. An answer other than statusOK has a text as body.
const (
	statusOK byte = iota
	statusError
	statusNotLeader
	statusNoLeader
	statusStorageFull
	statusHalted
	statusClosing
	statusUnknown
	statusTooLarge
	statusRemoved
)

// callErrors pairs what callers act on with its status on the wire. The first
// match counts.
var callErrors = []struct {
	status byte
	err    error
}{
	{statusUnknown, ErrOutcomeUnknown},
	{statusNotLeader, ErrNotLeader},
	{statusNoLeader, ErrNoLeader},
	{statusStorageFull, ErrStorageFull},
	{statusHalted, ErrHalted},
	{statusTooLarge, ErrTooLarge},
	{statusRemoved, ErrRemoved},
}

func statusOf(err error) byte {
	if errors.Is(err, ErrClosed) && !errors.Is(err, ErrOutcomeUnknown) {
		return statusClosing
	}
	for _, c := range callErrors {
		if errors.Is(err, c.err) {
			return c.status
		}
	}
	return statusError
}

// remoteError is the error that a peer answered with.
func remoteError(status byte, text string) error {
	if status == statusClosing {
		// The peer goes away without having done anything; another will lead.
		return fmt.Errorf("%w (peer: %s)", ErrNoLeader, text)
	}
	for _, c := range callErrors {
		if c.status == status {
			return fmt.Errorf("%w (peer: %s)", c.err, text)
		}
	}
	return fmt.Errorf("peer: %s", text)
}
