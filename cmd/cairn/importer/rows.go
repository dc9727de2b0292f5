package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"cairn/node/api"
)

// maxRowBytes bounds one line: more than a request body may hold.
const maxRowBytes = 4 << 20

// place is where a row stands in the file.
type place struct {
	line   int
	offset int64
	length int
}

// row is one line of a trajectory file.
type row struct {
	TaskID  string   `json:"task_id"`
	Domain  string   `json:"domain"`
	Task    string   `json:"task"`
	Attempt int      `json:"attempt"`
	Agent   string   `json:"agent"`
	Reward  *float64 `json:"reward"`
	Success *bool    `json:"success"`
	Steps   []struct {
		Tool        string         `json:"tool"`
		Args        map[string]any `json:"args"`
		Observation string         `json:"observation"`
		Thought     string         `json:"thought"`
		Reward      *float64       `json:"step_reward"`
	} `json:"steps"`
}

func (r *row) group() string { return r.Domain + "/" + r.TaskID }

// attempt is the row in the form of the API.
func (r *row) attempt() api.Attempt {
	at := api.Attempt{
		Steps: make([]api.Step, len(r.Steps)), Reward: r.Reward, Success: r.Success,
		ExternalID: fmt.Sprintf("%s/%s/%d", r.group(), r.Agent, r.Attempt),
	}
	if r.Reward != nil {
		at.RewardScale = &[]float64{0, 1}
	}
	for i, s := range r.Steps {
		at.Steps[i] = api.Step{Tool: s.Tool, Args: s.Args, Observation: s.Observation, Thought: s.Thought, Reward: s.Reward}
	}
	return at
}

func parseRow(line []byte) (*row, error) {
	var r row
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, rowError(err)
	}
	switch {
	case r.TaskID == "" || r.Domain == "":
		return nil, errors.New("task_id and domain are needed")
	case strings.TrimSpace(r.Task) == "":
		return nil, errors.New("task is blank")
	}
	return &r, nil
}

// rowError says it in words of the file, not of the program's types.
func rowError(err error) error {
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return fmt.Errorf("%s: %s does not fit", typed.Field, typed.Value)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// scanGroups reads the file once and lists its groups in order of appearance, each with the places of its rows. Lines
// that cannot be rows are reported in the result; blank lines are skipped.
func scanGroups(r io.ReaderAt, res *Result) ([][]place, error) {
	var (
		groups [][]place
		known  = map[string]int{}
		at     int64
		line   int
	)
	in := bufio.NewReaderSize(io.NewSectionReader(r, 0, 1<<62), 1<<20)
	for {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			return groups, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		line++
		p := place{line: line, offset: at, length: len(text)}
		at += int64(len(text))
		if group, ok := scanRow(text, line, res); ok {
			i, old := known[group]
			if !old {
				i = len(groups)
				known[group] = i
				groups = append(groups, nil)
			}
			groups[i] = append(groups[i], p)
		}
	}
}

func scanRow(text []byte, line int, res *Result) (group string, ok bool) {
	if len(bytes.TrimSpace(text)) == 0 {
		return "", false
	}
	res.Read++
	if len(text) > maxRowBytes {
		res.fail(line, fmt.Errorf("line is %d bytes, more than %d", len(text), maxRowBytes))
		return "", false
	}
	r, err := parseRow(text)
	if err != nil {
		res.fail(line, err)
		return "", false
	}
	countDropped(text, res.Dropped)
	return r.group(), true
}

// kept are the fields of a row and of its steps that an attempt takes over.
var (
	kept      = map[string]bool{"task_id": true, "domain": true, "task": true, "attempt": true, "agent": true, "reward": true, "success": true, "steps": true}
	keptSteps = map[string]bool{"tool": true, "args": true, "observation": true, "thought": true, "step_reward": true}
)

// countDropped counts the other fields, those of steps under "steps.<name>".
func countDropped(text []byte, dropped map[string]int) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return
	}
	for name := range fields {
		if !kept[name] {
			dropped[name]++
		}
	}
	var steps []map[string]json.RawMessage
	if json.Unmarshal(fields["steps"], &steps) != nil {
		return
	}
	for _, s := range steps {
		for name := range s {
			if !keptSteps[name] {
				dropped["steps."+name]++
			}
		}
	}
}

// readRow reads a row again at its place.
func readRow(r io.ReaderAt, p place) (*row, error) {
	text := make([]byte, p.length)
	if _, err := r.ReadAt(text, p.offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return parseRow(text)
}
