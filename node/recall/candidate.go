package recall

import (
	"cairn/index"
	"cairn/index/embed"
)

// Sources of a candidate.
const (
	SourceOwn       = "own"
	SourceMeta      = "meta"
	SourceCandidate = "candidate"
)

// Candidate is an experience that passed the hard filters, with what ranking needs to know about it.
type Candidate struct {
	ID           string
	Hit          index.Hit
	Source       string         // SourceOwn, SourceMeta or SourceCandidate
	Principal    string         // of the author
	Own          bool           // the author's principal is the caller's
	Vectors      []embed.Vector // scenario and content, for diversity; may be empty
	Trust        float64        // [0,1]; (u+1)/(f+2) for own items
	Strength     float64        // [0,1]
	Mu           float64        // mean lift of a candidate on the shelf, [0,1]
	WaitingSince int64          // Unix milliseconds since when a candidate waits for trials
	Buffered     bool           // in the gate's buffer: a fallback only
	UseCount     float64        // corrected number of recalls
	AbsRPE       float64        // |reward prediction error| at recording, [0,1]
	CreatedAt    int64          // Unix milliseconds
	Length       int            // estimated tokens when rendered, see ItemTokens
}

// Options of Rank. The zero value of K means DefaultK; see DefaultOptions for the rest.
type Options struct {
	K           int     // how many to return at most, exploratory one included
	Lambda      float64 // relevance against novelty in [0,1]; 1 = no diversity
	AuthorCap   int     // most items of one foreign principal; 0 or less = no cap
	Explore     bool    // keep the last place for something still to be tried (needs K >= 3)
	Epsilon     float64 // chance of an own, little used item when the shelf has nothing, in [0,1]
	Coin        float64 // the caller's random draw in [0,1); below Epsilon the chance is taken
	TokenBudget int     // most estimated tokens of all items; 0 or less = no budget
}

// DefaultK is how many experiences a recall returns when it does not say.
const DefaultK = 5

// DefaultOptions returns K 5, Lambda .7, AuthorCap 2, Explore with Epsilon .1, a Coin that never takes the chance and no
// token budget.
func DefaultOptions() Options {
	return Options{K: DefaultK, Lambda: .7, AuthorCap: 2, Explore: true, Epsilon: .1, Coin: 1}
}

// Ranked is a chosen candidate. Raw is the ordering value, Score = min(1, Raw), Rank counts from 0.
type Ranked struct {
	Candidate
	Score       float64
	Raw         float64
	Exploratory bool
	Rank        int
}

// Reasons of an Omitted.
const (
	OmittedBudget    = "budget"
	OmittedDiversity = "diversity"
	OmittedFloor     = "floor"
)

// Omitted is a candidate that was found and not returned. Those that simply ranked after K are not listed.
type Omitted struct {
	ID     string
	Reason string
}
