package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"
)

// Marks by which schemaField finds the field in a message.
const (
	requiredPrefix = "required: "
	misreadMark    = "\x00"
)

// huma keeps its error type, its casing rule and its messages in package variables; web is the only user of huma in the
// program. They are set before any schema is made, because schemas keep their messages.
func init() {
	huma.NewError = schemaProblem
	huma.ValidateStrictCasing = true // two spellings of one field would be two values for it
	huma.DefaultArrayNullable = false
	validation.MsgUnexpectedProperty = "is not a known field"
	validation.MsgExpectedRequiredProperty = requiredPrefix + "%s"
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedInteger = "must be a whole number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of \"%s\""
	validation.MsgExpectedMinimumNumber = "must be at least %v"
	validation.MsgExpectedMaximumNumber = "must be at most %v"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMatchPattern = "must match %s"
	validation.MsgExpectedMinItems = "must have at least %d entries"
	validation.MsgExpectedMaxItems = "must have at most %d entries"
	validation.MsgExpectedRFC3339DateTime = "must be an RFC 3339 time"
}

// newAPI makes the huma API on mux without huma's own routes.
func newAPI(mux *http.ServeMux, version string) huma.API {
	return humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:   "Cairn",
				Version: version,
				Description: "Memory for fleets of cooperating agents: record what was tried, recall what helps, report how it ended. " +
					"Writes take Idempotency-Key and answer Cairn-Index; reads take Cairn-Index to see them. Errors are problem documents (RFC 9457).",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"key": {Type: "http", Scheme: "bearer", Description: "An agent's API key"},
				},
			},
			Security: []map[string][]string{{"key": {}}},
		},
		Formats: map[string]huma.Format{
			"application/json": {Marshal: writeJSON, Unmarshal: readJSON},
			"json":             {Marshal: writeJSON, Unmarshal: readJSON}, // by which huma finds problem+json
		},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{marshal},
	})
}

// marshal encodes an answer before its status is sent, so that one that cannot be encoded is a clean 500.
func marshal(_ huma.Context, _ string, v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encode answer %T: %w", v, err))
	}
	return json.RawMessage(b), nil
}

func writeJSON(w io.Writer, v any) error {
	if raw, ok := v.(json.RawMessage); ok {
		_, err := w.Write(raw)
		return err
	}
	return json.NewEncoder(w).Encode(v)
}

// readJSON decodes a body that checkJSON has passed. What the schema allows and Go's type refuses (5.0 for a whole number)
// is reported by field, not in encoding/json's words.
func readJSON(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return errors.New(misreadMark + "cannot be read")
	case wrong.Type != nil && wrong.Type.Kind() >= reflect.Int && wrong.Type.Kind() <= reflect.Uint64:
		return errors.New(wrong.Field + misreadMark + "must be a whole number, written without fraction or exponent")
	}
	return errors.New(wrong.Field + misreadMark + "has the wrong type")
}

// mediaJSON is a response of one JSON type, for answers that huma cannot see.
func mediaJSON[T any](s *Server, description string) *huma.Response {
	schema := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
}

// describe adds an operation that has no huma handler to the document.
func (s *Server) describe(op huma.Operation) {
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	problemOf := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	op.Responses["default"] = &huma.Response{
		Description: "Error", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: problemOf}},
	}
	s.api.OpenAPI().AddOperation(&op)
}
