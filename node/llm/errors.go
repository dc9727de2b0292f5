package llm

import (
	"errors"
	"fmt"
	"time"
)

// What a caller can act on. Every error of a call wraps one of them.
var (
	// ErrDisabled: no model is set for the role. Go on by rule.
	ErrDisabled = errors.New("no language model is configured for this")
	// ErrBudget: the namespace or the agent has no tokens left. RetryAfter says when it will.
	ErrBudget = errors.New("token budget is spent")
	// ErrUnavailable: the endpoint did not answer, or said that it cannot now. A job should try again later.
	ErrUnavailable = errors.New("language model is not available")
	// ErrRefused: the endpoint refuses this request for good (key, model name, parameters). Trying again does not help.
	ErrRefused = errors.New("language model refuses the request")
	// ErrTooLong: the question does not fit the model's context even when cut.
	ErrTooLong = errors.New("question is too long for the language model")
	// ErrUnreadable: the answer, and the one after the request to repair it, could not be read or failed the checks.
	ErrUnreadable = errors.New("language model's answer is unreadable")
)

// callError is an error of a call with what is safe to tell: status and code, never prompts or keys.
type callError struct {
	kind   error
	detail string
	after  time.Duration
	cause  error
}

func (e *callError) Error() string {
	if e.detail == "" {
		return e.kind.Error()
	}
	return e.kind.Error() + ": " + e.detail
}

func (e *callError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func failed(kind error, format string, args ...any) error {
	return &callError{kind: kind, detail: fmt.Sprintf(format, args...)}
}

// RetryAfter is how long to wait before asking again, where the endpoint or the budget said so; else 0.
func RetryAfter(err error) time.Duration {
	var e *callError
	if errors.As(err, &e) {
		return e.after
	}
	return 0
}
