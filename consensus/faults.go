package consensus

// faults is the seam at which tests lose, delay and repeat messages between
// nodes. A nil value, as in every real node, does nothing.
type faults struct {
	// onRequest is asked before a request to addr is sent; an error loses it.
	onRequest func(addr string) error
	// onAnswer is asked after addr has answered; an error loses the answer.
	onAnswer func(addr string) error
	// onCall is asked before a call of the method is sent; an error loses it.
	onCall func(method byte) error
	// repeat reports whether a request of raft is sent twice.
	repeat func() bool
}

func (f *faults) request(addr string) error {
	if f == nil || f.onRequest == nil {
		return nil
	}
	return f.onRequest(plainAddr(addr))
}

func (f *faults) call(method byte) error {
	if f == nil || f.onCall == nil {
		return nil
	}
	return f.onCall(method)
}

func (f *faults) answer(addr string) error {
	if f == nil || f.onAnswer == nil {
		return nil
	}
	return f.onAnswer(plainAddr(addr))
}

func (f *faults) twice() bool { return f != nil && f.repeat != nil && f.repeat() }
