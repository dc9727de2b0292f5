// Package index is the hybrid search of one pool: vectors by cosine and keywords by BM25 over the same documents, filters
// before scoring, one weighted score, a floor under which nothing is returned.
//
// It knows ids, texts, vectors and an opaque Meta; what a document is, who may see it and how much it is trusted is the
// business of the caller, who says so with a Filter and ranks the hits further.
package index
