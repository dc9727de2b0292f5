package embed

import "sync"

// Embedder ids of the two embedded encoders.
const (
	MiniLM = "minilm-l6-v2-q8"
	E5     = "me5s-q4-p74429"
)

// Profile holds what belongs to one encoder. Thresholds are cosines of that encoder's own space ("native" cosines)
// and were chosen on development data of that encoder; none of them means anything for another encoder.
type Profile struct {
	ID        string // embedder id
	Dims      int    // values of a vector
	Prefix    string // put before every text, query and passage alike
	MaxTokens int    // longest input in tokens, special tokens and prefix included
	AssetHash string // SHA-256 of the weights file, hex

	Floor         float64 // below it a text is not relevant
	Strict        float64 // from it a text is relevant by its cosine alone
	FaintCover    float64 // share of the query's keywords that a text between Floor and Strict must cover
	Duplicate     float64 // from it two texts are candidates for being duplicates; vetoes decide
	Contrast      float64 // from it two texts are related enough to be contrasted
	KeywordWeight float64 // best fixed weight of the keyword part for memories and notes, beside the native cosine
	DialogWeight  float64 // the same for logs of dialogue
	CoverWeight   float64 // weight of the keyword part times the root of the share of the query that a text covers

	KeywordPassesFloor bool    // a hit that covers PassCover of the query's keywords passes below Floor
	PassCover          float64 // share of the query's keywords, by weight
	Unrelated          float64 // median cosine of unrelated texts; 0 on the common scale
}

// Common maps a native cosine to the scale on which the encoders can be mixed: unrelated texts are near 0, equal texts 1.
func (p Profile) Common(cos float64) float64 {
	return (cos - p.Unrelated) / (1 - p.Unrelated)
}

var profiles = [...]Profile{
	{
		ID: MiniLM, Dims: Dims, MaxTokens: 256,
		AssetHash: "98fd40d55b69e9bb7f35fc8888c9670aa3ba320c0e60f7bf1d8883a129a1be3d",
		Floor:     .30, Strict: .40, FaintCover: .05, Duplicate: .90, Contrast: .30,
		KeywordWeight: .3, DialogWeight: .8, CoverWeight: 1.5,
	},
	{
		ID: E5, Dims: Dims, Prefix: "query: ", MaxTokens: 512,
		AssetHash: "9a3058193d55c268314dd598158d2cc108a06e380e43798713ae96c0a3fcf8a2",
		Floor:     .88, Strict: .90, FaintCover: .05, Duplicate: .97, Contrast: .90,
		KeywordWeight: .2, DialogWeight: .2, CoverWeight: 1.5,
		KeywordPassesFloor: true, PassCover: .15, Unrelated: .857,
	},
}

// registered holds the profiles of remote models by embedder id.
var registered sync.Map // string -> Profile

// Register makes a profile known to ProfileOf. Those of the embedded encoders cannot be replaced. Safe for concurrent use.
func Register(p Profile) { registered.Store(p.ID, p) }

// ProfileOf returns the profile of an embedder; ok is false for an id that is not known.
func ProfileOf(embedderID string) (p Profile, ok bool) {
	for _, p := range profiles {
		if p.ID == embedderID {
			return p, true
		}
	}
	if p, ok := registered.Load(embedderID); ok {
		return p.(Profile), true
	}
	return Profile{}, false
}

// Profiles returns the profiles of all embedded encoders.
func Profiles() []Profile { return append([]Profile(nil), profiles[:]...) }
