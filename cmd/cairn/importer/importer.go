// Package importer reads attempts at tasks out of a file and records them over HTTP: one attempt a line, the attempts of a
// task in the order of their lines, several tasks at once. Importing the same file again adds nothing, because every row
// has an external id that the server takes once.
package importer

import (
	"context"
	"fmt"
	"io"
	"slices"

	"cairn/web/client"
)

// Result counts what an import did. A row is recorded, already known or failed; Dropped counts the fields of rows that an
// attempt does not keep.
type Result struct {
	Read         int            `json:"read"`
	Recorded     int            `json:"recorded"`
	AlreadyKnown int            `json:"already_known"`
	Failed       int            `json:"failed"`
	Failures     []Failure      `json:"failures"`
	Routes       Routes         `json:"routes"`
	Experiences  int            `json:"experiences"`
	Dropped      map[string]int `json:"dropped"`
	Seconds      float64        `json:"seconds"`
}

// Failure is a line that could not be imported.
type Failure struct {
	Line  int    `json:"line"`
	Error string `json:"error"`
}

// Routes counts the new attempts by what the gate did with them. None are those without a reward, which are stored and
// never gated.
type Routes struct {
	LongTerm int `json:"long_term"`
	Buffer   int `json:"buffer"`
	Discard  int `json:"discard"`
	None     int `json:"none"`
}

func (r *Routes) add(route string) {
	switch route {
	case "long_term":
		r.LongTerm++
	case "buffer":
		r.Buffer++
	case "discard":
		r.Discard++
	default:
		r.None++
	}
}

func (r *Result) fail(line int, err error) {
	r.Failed++
	r.Failures = append(r.Failures, Failure{Line: line, Error: err.Error()})
}

// File is a scanned file.
type File struct {
	in     io.ReaderAt
	groups [][]place
	result Result
}

// Scan reads a file of JSON lines once and finds the groups in it. Lines that are no rows become failures of the import;
// the only errors are those of reading. The file must not change until Import has returned.
func Scan(in io.ReaderAt) (*File, error) {
	f := &File{in: in, result: Result{Failures: []Failure{}, Dropped: map[string]int{}}}
	var err error
	f.groups, err = scanGroups(in, &f.result)
	return f, err
}

// Rows is how many rows the file has, those that cannot be imported included.
func (f *File) Rows() int { return f.result.Read }

// Import records the rows for the agent of the client's key, parallel groups at once. done, if not nil, is called with
// the number of rows that a finished request had; it must be safe for concurrent use. A row that the server refuses is a
// failure in the result and the rest goes on; the error is one of the server, the key or the connection. A File is
// imported once.
func (f *File) Import(ctx context.Context, c *client.Client, parallel int, done func(rows int)) (*Result, error) {
	if parallel < 1 {
		return nil, fmt.Errorf("import: parallel is %d, want at least 1", parallel)
	}
	if done == nil {
		done = func(int) {}
	}
	s := &sender{client: c, file: f.in, result: &f.result, done: done}
	if err := s.run(ctx, f.groups, parallel); err != nil {
		return nil, err
	}
	slices.SortFunc(f.result.Failures, func(x, y Failure) int { return x.Line - y.Line })
	return &f.result, nil
}
