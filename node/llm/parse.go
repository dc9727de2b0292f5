package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

var thinking = regexp.MustCompile(`(?s)<think(?:ing)?>.*?</think(?:ing)?>`)

// maxAnswer bounds an answer in bytes.
const maxAnswer = 1 << 20

// parse reads the JSON object of an answer into v. It forgives what models put around it (reasoning, prose, a Markdown
// fence) and commas before a closing bracket; it does not guess at what is missing: half an object, a second one that
// differs, the schema sent back, or a field of the wrong type is an error.
func parse(answer string, v any) error {
	if len(answer) > maxAnswer {
		return fmt.Errorf("answer has more than %d bytes", maxAnswer)
	}
	text := strings.TrimPrefix(thinking.ReplaceAllString(answer, ""), "\ufeff")
	object, err := firstObject(text)
	if err != nil {
		return err
	}
	if isSchema(object) {
		return errors.New("the answer is the schema, not an object of that form")
	}
	return decodeObject(object, v)
}

func decodeObject(object string, v any) error {
	dec := json.NewDecoder(strings.NewReader(object))
	if err := dec.Decode(v); err != nil {
		return describe(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	return nil
}

// describe says what is wrong without repeating the answer.
func describe(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("field %q is a %s", wrong.Field, wrong.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON at byte %d", syntax.Offset)
	}
	return errors.New("not valid JSON")
}

// firstObject finds the first complete JSON object of a text.
func firstObject(text string) (string, error) {
	for from := 0; ; from++ {
		start := strings.IndexByte(text[from:], '{')
		if start < 0 {
			return "", errors.New("there is no JSON object")
		}
		from += start
		end := closing(text[from:])
		if end < 0 {
			return "", errors.New("the JSON object is not complete")
		}
		object := text[from : from+end]
		if json.Valid([]byte(object)) {
			return object, nil
		}
		if object = withoutTrailingCommas(object); json.Valid([]byte(object)) {
			return object, nil
		}
	}
}

// withoutTrailingCommas drops commas before a closing bracket, outside strings.
func withoutTrailingCommas(text string) string {
	var out strings.Builder
	inString, escaped := false, false
	for i := range len(text) {
		c := text[i]
		if c == ',' && !inString {
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				continue
			}
		}
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		}
		out.WriteByte(c)
	}
	return out.String()
}

// closing is the length of the text up to the bracket that closes its first one, strings left out; -1 without one.
func closing(text string) int {
	depth, inString, escaped := 0, false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// isSchema recognises the schema itself, which small models like to send back.
func isSchema(object string) bool {
	var probe map[string]json.RawMessage
	if json.Unmarshal([]byte(object), &probe) != nil {
		return false
	}
	kind := bytes.Trim(probe["type"], `"`)
	_, properties := probe["properties"]
	return properties && string(kind) == "object"
}
