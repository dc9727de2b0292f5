package web

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"cairn/node/api"
)

// maxDepth is how deep a body may be nested.
const maxDepth = 64

// fault is what is wrong with a JSON text.
type fault struct {
	status   int // 400: no JSON; 422: JSON that says something we refuse
	location string
	message  string
}

func (f *fault) problem() *Problem {
	if f.status == http.StatusBadRequest {
		return malformed(f.location, f.message)
	}
	return problem(api.CodeInvalid, f.location+" "+f.message, field(f.location, f.message, nil))
}

// checkJSON reads raw as exactly one JSON value (RFC 8259) and refuses what encoding/json lets pass in silence: invalid
// UTF-8 and half surrogate pairs (it would store U+FFFD), the same key twice (the last one would win), NUL characters,
// numbers outside float64, and nesting beyond maxDepth. It returns nil when there is nothing to refuse.
func checkJSON(raw []byte) *fault {
	c := &checker{raw: raw}
	c.space()
	if f := c.value(); f != nil {
		return f
	}
	c.space()
	if c.at < len(c.raw) {
		return c.broken("has more after the JSON value")
	}
	return nil
}

// checker is a recursive descent over the raw bytes; path is where it stands.
type checker struct {
	raw   []byte
	at    int
	path  []string
	depth int
}

func (c *checker) location() string {
	var b strings.Builder
	b.WriteString("body")
	for _, p := range c.path {
		if !strings.HasPrefix(p, "[") {
			b.WriteByte('.')
		}
		b.WriteString(p)
		if b.Len() > maxLocation {
			break
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

func (c *checker) broken(what string) *fault {
	return &fault{http.StatusBadRequest, "body", fmt.Sprintf("%s (byte %d)", what, c.at)}
}

func (c *checker) refuse(what string) *fault {
	return &fault{http.StatusUnprocessableEntity, c.location(), what}
}

func (c *checker) peek() byte {
	if c.at < len(c.raw) {
		return c.raw[c.at]
	}
	return 0
}

func (c *checker) space() {
	for c.at < len(c.raw) && bytes.IndexByte([]byte(" \t\r\n"), c.raw[c.at]) >= 0 {
		c.at++
	}
}

func (c *checker) value() *fault {
	if c.at >= len(c.raw) {
		return c.broken("ends before the JSON value is complete")
	}
	switch ch := c.peek(); {
	case ch == '{':
		return c.nested(c.object)
	case ch == '[':
		return c.nested(c.array)
	case ch == '"':
		_, f := c.text(false)
		return f
	case ch == '-' || (ch >= '0' && ch <= '9'):
		return c.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(c.raw[c.at:], []byte(word)) {
			c.at += len(word)
			return nil
		}
	}
	for _, word := range []string{"NaN", "Infinity"} {
		if bytes.HasPrefix(c.raw[c.at:], []byte(word)) {
			return c.broken("holds " + word + ", which is not JSON")
		}
	}
	return c.broken("is not JSON")
}

func (c *checker) nested(read func() *fault) *fault {
	if c.depth++; c.depth > maxDepth {
		return c.refuse(fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	defer func() { c.depth-- }()
	c.at++
	c.space()
	return read()
}

func (c *checker) object() *fault {
	if c.peek() == '}' {
		c.at++
		return nil
	}
	seen := map[string]bool{}
	for {
		if c.peek() != '"' {
			return c.broken("is not JSON: a field name in double quotes belongs here")
		}
		name, f := c.text(true)
		if f != nil {
			return f
		}
		c.path = append(c.path, name)
		if seen[name] {
			return c.refuse("is there twice")
		}
		seen[name] = true
		c.space()
		if c.peek() != ':' {
			return c.broken("is not JSON: ':' belongs here")
		}
		c.at++
		c.space()
		if f := c.value(); f != nil {
			return f
		}
		c.path = c.path[:len(c.path)-1]
		if more, f := c.next('}'); !more {
			return f
		}
	}
}

func (c *checker) array() *fault {
	if c.peek() == ']' {
		c.at++
		return nil
	}
	for i := 0; ; i++ {
		c.path = append(c.path, "["+strconv.Itoa(i)+"]")
		if f := c.value(); f != nil {
			return f
		}
		c.path = c.path[:len(c.path)-1]
		if more, f := c.next(']'); !more {
			return f
		}
	}
}

// next reads what follows an element: a comma (more) or the closing bracket.
func (c *checker) next(closing byte) (more bool, f *fault) {
	c.space()
	switch c.peek() {
	case ',':
		c.at++
		c.space()
		return true, nil
	case closing:
		c.at++
		return false, nil
	}
	if c.at >= len(c.raw) {
		return false, c.broken("ends before the JSON value is complete")
	}
	return false, c.broken("is not JSON: ',' or '" + string(closing) + "' belongs here")
}

// text reads a string and, if keep is set, returns it decoded.
func (c *checker) text(keep bool) (string, *fault) {
	var out []byte
	for c.at++; c.at < len(c.raw); {
		r, size := utf8.DecodeRune(c.raw[c.at:])
		switch {
		case r == '"':
			c.at++
			return string(out), nil
		case r == '\\':
			var f *fault
			if r, f = c.escape(); f != nil {
				return "", f
			}
			size = 0
		case r == utf8.RuneError && size == 1:
			return "", c.refuse("is not valid UTF-8")
		case r == 0:
			return "", c.refuse("must not hold NUL characters")
		case r < ' ':
			return "", c.broken("is not JSON: a control character in a string must be escaped")
		}
		c.at += size
		if keep {
			out = utf8.AppendRune(out, r)
		}
	}
	return "", c.broken("ends inside a string")
}

const plainEscapes = "\"\"\\\\//b\bf\fn\nr\rt\t" // pairs of letter and meaning

func (c *checker) escape() (rune, *fault) {
	c.at++
	letter := c.peek()
	if letter == 'u' {
		return c.unicode()
	}
	for i := 0; i < len(plainEscapes); i += 2 {
		if plainEscapes[i] == letter {
			c.at++
			return rune(plainEscapes[i+1]), nil
		}
	}
	return 0, c.broken("is not JSON: unknown escape in a string")
}

func (c *checker) unicode() (rune, *fault) {
	r, ok := c.hex()
	if !ok {
		return 0, c.broken(`is not JSON: \u takes four hexadecimal digits`)
	}
	switch {
	case r == 0:
		return 0, c.refuse("must not hold NUL characters")
	case r >= 0xDC00 && r <= 0xDFFF:
		return 0, c.refuse("holds half of a surrogate pair")
	case r < 0xD800 || r > 0xDBFF:
		return r, nil
	}
	if c.peek() != '\\' || c.at+1 >= len(c.raw) || c.raw[c.at+1] != 'u' {
		return 0, c.refuse("holds half of a surrogate pair")
	}
	c.at++
	low, ok := c.hex()
	if !ok {
		return 0, c.broken(`is not JSON: \u takes four hexadecimal digits`)
	}
	if low < 0xDC00 || low > 0xDFFF {
		return 0, c.refuse("holds half of a surrogate pair")
	}
	return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, nil
}

// hex reads uXXXX.
func (c *checker) hex() (rune, bool) {
	if c.at+5 > len(c.raw) {
		return 0, false
	}
	var n rune
	for _, d := range c.raw[c.at+1 : c.at+5] {
		switch {
		case d >= '0' && d <= '9':
			n = n<<4 | rune(d-'0')
		case d|0x20 >= 'a' && d|0x20 <= 'f':
			n = n<<4 | rune(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	c.at += 5
	return n, true
}

// number reads -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
func (c *checker) number() *fault {
	start := c.at
	if c.peek() == '-' {
		c.at++
	}
	if c.peek() == '0' {
		c.at++
	} else if !c.digits() {
		return c.broken("is not JSON: a number has digits")
	}
	if c.peek() == '.' {
		if c.at++; !c.digits() {
			return c.broken("is not JSON: a number has digits after its point")
		}
	}
	if c.peek()|0x20 == 'e' {
		c.at++
		if c.peek() == '+' || c.peek() == '-' {
			c.at++
		}
		if !c.digits() {
			return c.broken("is not JSON: a number has digits in its exponent")
		}
	}
	if _, err := strconv.ParseFloat(string(c.raw[start:c.at]), 64); err != nil {
		return c.refuse("is outside the range of numbers")
	}
	return nil
}

func (c *checker) digits() bool {
	start := c.at
	for ch := c.peek(); ch >= '0' && ch <= '9'; ch = c.peek() {
		c.at++
	}
	return c.at > start
}
