package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"cairn/node/api"
)

const (
	maxFields     = 32  // of one problem document
	maxLocation   = 256 // bytes
	maxValueRunes = 64
)

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type   string      `json:"type" doc:"urn:cairn:error:<code>"`
	Title  string      `json:"title"`
	Status int         `json:"status"`
	Code   api.Code    `json:"code" enum:"invalid,unauthenticated,denied,not_found,conflict,precondition,too_large,overloaded,internal,unavailable,storage_full"`
	Detail string      `json:"detail"`
	Errors []api.Field `json:"errors,omitempty" doc:"What is wrong, field by field"`

	header http.Header
}

var titles = map[api.Code]string{
	api.CodeInvalid:         "Invalid request",
	api.CodeUnauthenticated: "Not signed in",
	api.CodeDenied:          "Denied",
	api.CodeNotFound:        "Not found",
	api.CodeConflict:        "Conflict",
	api.CodePrecondition:    "Precondition failed",
	api.CodeTooLarge:        "Too large",
	api.CodeOverloaded:      "Too many requests",
	api.CodeInternal:        "Internal error",
	api.CodeUnavailable:     "Unavailable",
	api.CodeStorageFull:     "Storage full",
}

func problem(code api.Code, detail string, fields ...api.Field) *Problem {
	p := &Problem{
		Type: "urn:cairn:error:" + string(code), Title: titles[code], Status: code.Status(),
		Code: code, Detail: detail, Errors: fields, header: http.Header{},
	}
	switch code {
	case api.CodeUnauthenticated:
		p.header.Set("WWW-Authenticate", `Bearer realm="cairn"`)
	case api.CodeOverloaded, api.CodeUnavailable:
		p.header.Set("Retry-After", "1")
	}
	return p
}

// invalid is a 422 about one field.
func invalid(location, message string, value any) *Problem {
	return problem(api.CodeInvalid, location+" "+message, field(location, message, value))
}

// malformed is a 400: what came is not what its syntax promises.
func malformed(location, message string) *Problem {
	p := invalid(location, message, nil)
	p.Status, p.Title = http.StatusBadRequest, "Malformed request"
	return p
}

// refused turns a service's error into a problem. What an internal error says stays in the log.
func (s *Server) refused(ctx context.Context, err error) *Problem {
	e := api.AsError(err)
	if e.Code == api.CodeInternal || titles[e.Code] == "" {
		s.log.ErrorContext(ctx, "request failed", slog.Any("error", err))
		return problem(api.CodeInternal, "internal error")
	}
	if e.Cause != nil {
		s.log.DebugContext(ctx, "request refused", slog.String("code", string(e.Code)), slog.Any("error", e.Cause))
	}
	p := problem(e.Code, e.Detail)
	for _, f := range e.Fields {
		if f.Location == "cursor" {
			f.Location = "query.cursor"
		}
		p.Errors = append(p.Errors, field(f.Location, f.Message, f.Value))
	}
	if e.RetryAfter > 0 {
		p.header.Set("Retry-After", seconds(e.RetryAfter))
	}
	return p
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(int64(math.Ceil(d.Seconds())), 10)
}

// write sends the problem. It must be the first thing that is written.
func (p *Problem) write(w http.ResponseWriter) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has gone; there is nobody left to tell
}

// Error, GetStatus, GetHeaders and ContentType let huma write the problem.

// Error implements error.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are the headers that go with the problem.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType is the media type of a problem document.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// field makes one entry, with a value only where it is short and plain: an entry names what is wrong, it is no echo.
func field(location, message string, value any) api.Field {
	switch v := value.(type) {
	case string:
		if utf8.RuneCountInString(v) > maxValueRunes {
			value = nil
		}
	case bool, float64, int, int64, uint64:
	default:
		value = nil
	}
	if len(location) > maxLocation {
		location = strings.ToValidUTF8(location[:maxLocation], "") + "..."
	}
	return api.Field{Location: location, Message: message, Value: value}
}

// schemaProblem is what huma's checks make: a problem whose entries are sorted and name the field itself.
func schemaProblem(status int, _ string, errs ...error) huma.StatusError {
	fields := make([]api.Field, 0, len(errs))
	for _, err := range errs {
		if err != nil {
			fields = append(fields, schemaField(err))
		}
	}
	slices.SortStableFunc(fields, func(a, b api.Field) int { return cmp.Compare(a.Location, b.Location) })
	more := len(fields) - 1
	if len(fields) > maxFields {
		fields = fields[:maxFields]
	}
	if len(fields) == 0 {
		fields = append(fields, field("body", "is required", nil))
	}
	p := problem(api.CodeInvalid, fields[0].Location+" "+fields[0].Message, fields...)
	if more > 0 {
		p.Detail += fmt.Sprintf(" (and %d more)", more)
	}
	switch {
	case status >= http.StatusInternalServerError:
		p = problem(api.CodeInternal, "internal error")
	case status == http.StatusBadRequest || status == http.StatusUnsupportedMediaType:
		p.Status, p.Title = status, "Malformed request"
	}
	return p
}

// schemaField names the missing or misread field where huma names its parent.
func schemaField(err error) api.Field {
	detailer, ok := err.(huma.ErrorDetailer)
	if !ok {
		return field("body", "cannot be read", nil)
	}
	d := detailer.ErrorDetail()
	if name, ok := strings.CutPrefix(d.Message, requiredPrefix); ok {
		return field(d.Location+"."+name, "is required", nil)
	}
	if place, message, ok := strings.Cut(d.Message, misreadMark); ok {
		return field(strings.TrimSuffix("body."+place, "."), message, nil)
	}
	return field(d.Location, d.Message, d.Value)
}
