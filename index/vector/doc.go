// Package vector finds the nearest rows to a vector by cosine, exactly.
//
// A Space holds unit vectors of one embedder. Rows lie in large arenas; a row is found as soon as Add returns and is gone
// as soon as Remove returns; its place is used again.
package vector
