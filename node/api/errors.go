package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Code is the machine-readable name of an error; it is the last part of the problem type `urn:cairn:error:<code>`.
type Code string

// The codes of the wire contract.
const (
	CodeInvalid         Code = "invalid"
	CodeUnauthenticated Code = "unauthenticated"
	CodeDenied          Code = "denied"
	CodeNotFound        Code = "not_found"
	CodeConflict        Code = "conflict"
	CodePrecondition    Code = "precondition"
	CodeTooLarge        Code = "too_large"
	CodeOverloaded      Code = "overloaded"
	CodeInternal        Code = "internal"
	CodeUnavailable     Code = "unavailable"
	CodeStorageFull     Code = "storage_full"
)

// Field names one thing that is wrong with a request.
type Field struct {
	Location string `json:"location" doc:"Where the value stands, e.g. body.k or query.limit"`
	Message  string `json:"message" doc:"What is wrong with it, with the limit"`
	Value    any    `json:"value,omitempty" doc:"The value that was refused"`
}

// Error is what a service call answers when it does not do what was asked. Detail is safe to show to the caller; Cause is
// for the server's log only.
type Error struct {
	Code       Code
	Detail     string
	Fields     []Field
	RetryAfter time.Duration
	Cause      error
}

// Error implements error.
func (e *Error) Error() string {
	msg := string(e.Code) + ": " + e.Detail
	if e.Cause != nil {
		msg += ": " + e.Cause.Error()
	}
	return msg
}

// Unwrap gives the internal cause.
func (e *Error) Unwrap() error { return e.Cause }

// Status is the HTTP status of the code.
func (c Code) Status() int {
	switch c {
	case CodeInvalid:
		return http.StatusUnprocessableEntity
	case CodeUnauthenticated:
		return http.StatusUnauthorized
	case CodeDenied:
		return http.StatusForbidden
	case CodeNotFound:
		return http.StatusNotFound
	case CodeConflict:
		return http.StatusConflict
	case CodePrecondition:
		return http.StatusPreconditionFailed
	case CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeOverloaded:
		return http.StatusTooManyRequests
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	case CodeStorageFull:
		return http.StatusInsufficientStorage
	}
	return http.StatusInternalServerError
}

// Invalid is a 422 about one field.
func Invalid(location, message string, value any) *Error {
	return &Error{Code: CodeInvalid, Detail: location + " " + message, Fields: []Field{{location, message, value}}}
}

// NotFound is a 404; it is also the answer for what the caller may not see.
func NotFound(what string) *Error { return &Error{Code: CodeNotFound, Detail: what + " not found"} }

// Denied is a 403: the caller is known, the role is missing.
func Denied(detail string) *Error { return &Error{Code: CodeDenied, Detail: detail} }

// Conflict is a 409.
func Conflict(format string, args ...any) *Error {
	return &Error{Code: CodeConflict, Detail: fmt.Sprintf(format, args...)}
}

// Unavailable is a 503 with Retry-After.
func Unavailable(detail string, retry time.Duration, cause error) *Error {
	return &Error{Code: CodeUnavailable, Detail: detail, RetryAfter: retry, Cause: cause}
}

// AsError finds the *Error in err's chain; any other error becomes an internal one whose text stays in the log.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Detail: "internal error", Cause: err}
}
