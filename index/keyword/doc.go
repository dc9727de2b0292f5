// Package keyword turns text into tokens and ranks documents by BM25.
//
// Tokens are made for two kinds of text at once: prose (English stemming and stop words, Han in single runes and pairs)
// and the identifiers that agents exchange (kept whole and split: camelCase, snake_case, paths, error codes, versions).
package keyword
