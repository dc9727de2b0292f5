package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"

	"cairn/node/api"
)

// The exit codes of every command.
const (
	exitOK = iota
	exitFailed
	exitUsage
	exitNotFound
	exitDenied
	exitUnavailable
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// errQuiet ends a command with code 1 after it has said itself what went wrong.
var errQuiet = errors.New("failed")

// fail prints an error, if there is one, and returns the exit code that it stands for.
func fail(stderr io.Writer, err error) int {
	if err != nil && !errors.Is(err, errQuiet) {
		fmt.Fprintln(stderr, "cairn:", explain(err))
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var (
		u usageError
		e *api.Error
		n *url.Error
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &u):
		return exitUsage
	case errors.As(err, new(noKeyError)):
		return exitDenied
	case errors.As(err, &e):
		return exitOfCode(e.Code)
	case errors.As(err, &n):
		return exitUnavailable
	}
	return exitFailed
}

func exitOfCode(code api.Code) int {
	switch code {
	case api.CodeNotFound:
		return exitNotFound
	case api.CodeUnauthenticated, api.CodeDenied:
		return exitDenied
	case api.CodeUnavailable:
		return exitUnavailable
	}
	return exitFailed
}

// explain says what went wrong and what may help.
func explain(err error) string {
	var (
		e *api.Error
		n *url.Error
	)
	switch {
	case errors.As(err, &e):
		return explainAnswer(e)
	case errors.As(err, &n):
		return fmt.Sprintf("no answer from %s: %v\n  is `cairn serve` running there? --addr or CAIRN_ADDR names another address", hostOf(n.URL), n.Err)
	}
	return err.Error()
}

func explainAnswer(e *api.Error) string {
	text := e.Detail
	if text == "" {
		text = string(e.Code)
	}
	for _, f := range e.Fields {
		text += fmt.Sprintf("\n  %s: %s", f.Location, f.Message)
		if f.Value != nil {
			text += fmt.Sprintf(" (got %v)", f.Value)
		}
	}
	switch e.Code {
	case api.CodeUnauthenticated:
		text += "\n  the key is not known to this node: check CAIRN_KEY, --key-file or --data"
	case api.CodeDenied:
		text += "\n  this key lacks the role for it; an admin key may do it"
	}
	return text
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Scheme + "://" + u.Host
}
