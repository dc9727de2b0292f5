package embed

import (
	"errors"
	"fmt"
	"math"
)

// Dims is the number of values of a vector of either embedded encoder.
const Dims = 384

var (
	// ErrBlank says that a text has nothing to embed: it is empty, white space, or only characters the encoder drops.
	ErrBlank = errors.New("text is blank")
	// ErrVector says that a vector cannot be compared: no embedder, no values, a value that is NaN or infinite, or length zero.
	ErrVector = errors.New("vector is not usable")
)

// Vector is one embedded text. Values has unit length. The zero Vector stands for "no vector".
type Vector struct {
	Embedder string    // embedder id, see ProfileOf
	Values   []float32 // Dims values for the embedded encoders
}

// IsZero reports whether v holds no values at all.
func (v Vector) IsZero() bool { return len(v.Values) == 0 }

// Unit returns v scaled to unit length. A vector that has unit length within 1e-6 is returned as it is, sharing its
// values; otherwise the values are a copy. It returns ErrVector for a vector that cannot be scaled.
func (v Vector) Unit() (Vector, error) {
	if v.Embedder == "" {
		return Vector{}, fmt.Errorf("%w: no embedder id", ErrVector)
	}
	if len(v.Values) == 0 {
		return Vector{}, fmt.Errorf("%w: no values", ErrVector)
	}
	var sum float64
	for _, x := range v.Values {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return Vector{}, fmt.Errorf("%w: a value is not finite", ErrVector)
	}
	if sum < 1e-30 {
		return Vector{}, fmt.Errorf("%w: length zero", ErrVector)
	}
	norm := math.Sqrt(sum)
	if math.Abs(norm-1) <= 1e-6 {
		return v, nil
	}
	out := Vector{Embedder: v.Embedder, Values: make([]float32, len(v.Values))}
	for i, x := range v.Values {
		out.Values[i] = float32(float64(x) / norm)
	}
	return out, nil
}
