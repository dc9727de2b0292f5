package acquire

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
)

// Once leaves out attempts that were recorded again: those without a name of their own that equal, in every step and in
// their end, one of an earlier recording of the group. Equal attempts within one recording are samples and all count: of
// equal ones as many stay as the recording with most of them had. A named attempt always stays. The order does too.
func Once(attempts []Attempt) []Attempt {
	var out []Attempt
	seen := make(map[[32]byte]*repeated)
	for _, a := range attempts {
		key := Identity(a)
		r := seen[key]
		if r == nil {
			r = &repeated{}
			seen[key] = r
		}
		if r.take(a) {
			out = append(out, a)
		}
	}
	return out
}

// repeated counts equal attempts: those kept, and those of the recording that is read.
type repeated struct {
	kept, current int
	recording     int64
}

// take reports whether an attempt counts beside those before it.
func (r *repeated) take(a Attempt) bool {
	if r.recording != a.Recording {
		r.recording, r.current = a.Recording, 0
	}
	r.current++
	if !a.Named && r.current <= r.kept {
		return false
	}
	r.kept++
	return true
}

// Identity hashes what an attempt did and how it ended. Given is no part of it: the same attempt may be recorded with
// and without its receipt.
func Identity(a Attempt) [32]byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%v %v %v\n", a.HasReward, a.Score, a.Success)
	enc := json.NewEncoder(&b) // sorts the names of arguments
	for _, s := range a.Steps {
		if enc.Encode([]any{s.Tool, s.Args, s.Observation, s.Thought, s.Reward}) != nil {
			fmt.Fprintf(&b, "%q %v %q %q\n", s.Tool, s.Args, s.Observation, s.Thought)
		}
	}
	return sha256.Sum256(b.Bytes())
}
