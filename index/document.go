package index

import (
	"errors"
	"fmt"

	"cairn/index/embed"
	"cairn/index/keyword"
	"cairn/index/vector"
)

var (
	// ErrDocument says that a document cannot be put: no id, too many vectors, a weight or a vector that is not usable.
	ErrDocument = errors.New("document is not usable")
	// ErrQuery says that a query cannot be answered: neither text nor vector, a negative limit, a vector that is not usable.
	ErrQuery = errors.New("query is not usable")
)

// MaxVectors is the greatest number of vectors of a document.
const MaxVectors = vector.MaxParts

// DefaultLimit is the number of hits when Query.Limit is 0.
const DefaultLimit = 10

// Field is one text of a document for the keyword index. The zero Weight stands for 1; the name is only kept.
type Field struct {
	Name   string
	Text   string
	Weight float64
}

// Doc is one document. Vectors holds at most MaxVectors, by convention the scenario's and the content's; a zero Vector keeps
// the place of one that is missing. Vectors are scaled to unit length. Meta is handed to filters and returned in hits; the
// pool never looks into it, and it must not be changed after Put.
type Doc struct {
	ID      string
	Fields  []Field
	Vectors []embed.Vector
	Meta    any
}

// checked returns the document's vectors with unit length.
func (d Doc) checked() ([]embed.Vector, error) {
	if d.ID == "" {
		return nil, fmt.Errorf("%w: no id", ErrDocument)
	}
	if len(d.Vectors) > MaxVectors {
		return nil, fmt.Errorf("document %q: %w: %d vectors, at most %d", d.ID, ErrDocument, len(d.Vectors), MaxVectors)
	}
	units := make([]embed.Vector, len(d.Vectors))
	for i, v := range d.Vectors {
		if v.IsZero() {
			continue
		}
		unit, err := v.Unit()
		if err != nil {
			return nil, fmt.Errorf("document %q, vector %d: %w: %w", d.ID, i, ErrDocument, err)
		}
		if p, ok := embed.ProfileOf(v.Embedder); ok && p.Dims != len(v.Values) {
			return nil, fmt.Errorf("document %q, vector %d: %w: %d values, want %d", d.ID, i, ErrDocument, len(v.Values), p.Dims)
		}
		for _, other := range units[:i] {
			if other.Embedder == v.Embedder && len(other.Values) != len(v.Values) {
				return nil, fmt.Errorf("document %q, vector %d: %w: %d values beside %d", d.ID, i, ErrDocument, len(v.Values), len(other.Values))
			}
		}
		units[i] = unit
	}
	return units, nil
}

func (d Doc) keywords() []keyword.Field {
	fields := make([]keyword.Field, len(d.Fields))
	for i, f := range d.Fields {
		fields[i] = keyword.Field{Text: f.Text, Weight: f.Weight}
	}
	return fields
}

// Cosine returns the cosine of two vectors; ok is false when they belong to different embedders, differ in size or are not
// usable: such vectors cannot be compared.
func Cosine(a, b embed.Vector) (cos float64, ok bool) {
	if a.Embedder != b.Embedder || len(a.Values) != len(b.Values) {
		return 0, false
	}
	a, err := a.Unit()
	if err != nil {
		return 0, false
	}
	b, err = b.Unit()
	if err != nil {
		return 0, false
	}
	return dot(a.Values, b.Values), true
}
