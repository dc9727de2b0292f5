// Package embed turns text into unit vectors with two encoders that are part of the binary.
//
// English and other texts without Han or kana go to all-MiniLM-L6-v2, texts with at least 15 % Han and kana runes to
// multilingual-e5-small (Choose). Both give 384 numbers, but the two spaces are not comparable: a Vector names its
// embedder, and only vectors of the same embedder may be compared.
//
// Everything that depends on an encoder (relevance floor, duplicate and contrast thresholds, weight of keywords, the
// common scale of similarities) is in its Profile.
package embed
