package client

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"cairn/node/api"
)

// httpStatus is the cause of an *api.Error that came over HTTP.
type httpStatus int

func (s httpStatus) Error() string { return fmt.Sprintf("HTTP %d", int(s)) }

// Status is the HTTP status behind an error of this package, and 0 when there was none (no answer came).
func Status(err error) int {
	var s httpStatus
	if errors.As(err, &s) {
		return int(s)
	}
	return 0
}

// problem is the error document of the wire contract.
type problem struct {
	Code   api.Code    `json:"code"`
	Title  string      `json:"title"`
	Detail string      `json:"detail"`
	Errors []api.Field `json:"errors"`
}

// decodeError makes an *api.Error of a refused request. An answer that is no problem document (a proxy's page, say) gets
// the code its status stands for.
func decodeError(a answer) *api.Error {
	var p problem
	if json.Unmarshal(a.body, &p) != nil || p.Code == "" {
		p = problem{Code: codeOf(a.status), Detail: http.StatusText(a.status)}
	}
	if p.Detail == "" {
		p.Detail = p.Title
	}
	return &api.Error{Code: p.Code, Detail: p.Detail, Fields: p.Errors, RetryAfter: retryAfter(a, 0), Cause: httpStatus(a.status)}
}

func codeOf(status int) api.Code {
	for _, c := range []api.Code{
		api.CodeInvalid, api.CodeUnauthenticated, api.CodeDenied, api.CodeNotFound, api.CodeConflict, api.CodePrecondition,
		api.CodeTooLarge, api.CodeOverloaded, api.CodeUnavailable, api.CodeStorageFull,
	} {
		if c.Status() == status {
			return c
		}
	}
	switch {
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return api.CodeUnavailable
	case status >= 400 && status < 500:
		return api.CodeInvalid
	}
	return api.CodeInternal
}

// retryAfter is the pause the server asked for, at most 10 s, else the fallback.
func retryAfter(a answer, fallback time.Duration) time.Duration {
	n, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || n < 0 {
		return fallback
	}
	return min(time.Duration(n)*time.Second, 10*time.Second)
}

func certificate(err error) bool {
	var bad *tls.CertificateVerificationError
	return errors.As(err, &bad)
}
