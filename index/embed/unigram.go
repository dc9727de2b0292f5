package embed

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Types of pieces in a SentencePiece model.
const (
	pieceNormal  = 1
	pieceUnknown = 2
)

// maxUnigramBytes bounds what the tokenizer looks at: far more than 512 pieces of 16 runes can cover.
const maxUnigramBytes = 64 << 10

// unigram is the SentencePiece unigram tokenizer. It is read-only after newUnigram and safe for concurrent use.
type unigram struct {
	charsmap charsmap
	id       map[string]int32 // normal pieces
	score    []float32        // by id
	maxRunes int              // longest normal piece
	bos      int32
	eos      int32
	unk      int32
	unkScore float32
}

// newUnigram reads tokenizer.model, a serialised SentencePiece ModelProto.
func newUnigram(model []byte, cfg config) (*unigram, error) {
	t := &unigram{id: make(map[string]int32, cfg.VocabSize), bos: cfg.BOS, eos: cfg.EOS, unk: -1}
	lowest := float32(math.Inf(1))
	err := protoFields(model, func(num protowire.Number, value []byte, _ uint64) error {
		switch num {
		case 1:
			piece, score, kind, err := readPiece(value)
			if err != nil {
				return err
			}
			id := int32(len(t.score))
			t.score = append(t.score, score)
			switch kind {
			case pieceNormal:
				t.id[piece] = id
				t.maxRunes = max(t.maxRunes, utf8.RuneCountInString(piece))
				lowest = min(lowest, score)
			case pieceUnknown:
				t.unk = id
			}
		case 3:
			return protoFields(value, func(num protowire.Number, value []byte, _ uint64) (err error) {
				if num == 2 {
					t.charsmap, err = newCharsmap(value)
				}
				return err
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("tokenizer model: %w", err)
	case len(t.score) != cfg.VocabSize:
		return nil, fmt.Errorf("tokenizer model has %d pieces, want %d", len(t.score), cfg.VocabSize)
	case t.unk < 0 || len(t.id) == 0 || t.charsmap.units == nil:
		return nil, fmt.Errorf("tokenizer model has no pieces, no unknown piece or no normaliser")
	}
	t.unkScore = lowest - 10
	return t, nil
}

func readPiece(b []byte) (piece string, score float32, kind uint64, err error) {
	kind = pieceNormal
	err = protoFields(b, func(num protowire.Number, value []byte, scalar uint64) error {
		switch num {
		case 1:
			piece = string(value)
		case 2:
			score = math.Float32frombits(uint32(scalar))
		case 3:
			kind = scalar
		}
		return nil
	})
	return piece, score, kind, err
}

// protoFields calls visit for each field of a protobuf message: bytes fields with value, all others with scalar.
func protoFields(b []byte, visit func(num protowire.Number, value []byte, scalar uint64) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var value []byte
		var scalar uint64
		switch kind {
		case protowire.VarintType:
			scalar, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			scalar = uint64(x)
		case protowire.Fixed64Type:
			scalar, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := visit(num, value, scalar); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// encode returns the ids of text with the special tokens, at most limit of them.
func (t *unigram) encode(text string, limit int) []int32 {
	pieces := t.segment(t.normalise(text))
	if len(pieces) > limit-2 {
		pieces = pieces[:limit-2]
	}
	ids := make([]int32, 0, len(pieces)+2)
	ids = append(ids, t.bos)
	ids = append(ids, pieces...)
	return append(ids, t.eos)
}

// normalise applies the charsmap, folds blanks and marks word starts with U+2581.
func (t *unigram) normalise(text string) string {
	if len(text) > maxUnigramBytes {
		n := maxUnigramBytes
		for n > maxUnigramBytes-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	text = t.charsmap.apply(strings.ToValidUTF8(text, string(utf8.RuneError)))
	var b strings.Builder
	b.Grow(len(text) + 16)
	gap := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			gap = true
		case gap:
			b.WriteString("\u2581")
			gap = false
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// segment is the Viterbi search for the split with the greatest sum of scores. Sums are float32, candidates go from short
// to long and replace only on strictly greater, so that ties fall as in SentencePiece.
func (t *unigram) segment(text string) []int32 {
	bounds := make([]int32, 0, len(text)+1) // byte offset of each rune, and the end
	for i := range text {
		bounds = append(bounds, int32(i))
	}
	bounds = append(bounds, int32(len(text)))
	n := len(bounds) - 1
	best := make([]float32, n+1)
	from := make([]int32, n+1)
	piece := make([]int32, n+1)
	for i := 1; i <= n; i++ {
		best[i] = float32(math.Inf(-1))
	}
	for i := range n {
		single := false
		for j := i + 1; j <= min(n, i+t.maxRunes); j++ {
			id, ok := t.id[text[bounds[i]:bounds[j]]]
			if !ok {
				continue
			}
			single = single || j == i+1
			if v := best[i] + t.score[id]; v > best[j] {
				best[j], from[j], piece[j] = v, int32(i), id
			}
		}
		if v := best[i] + t.unkScore; !single && v > best[i+1] {
			best[i+1], from[i+1], piece[i+1] = v, int32(i), t.unk
		}
	}
	return t.trace(from, piece, n)
}

// trace walks back from the end; neighbouring unknowns become one.
func (t *unigram) trace(from, piece []int32, n int) []int32 {
	ids := make([]int32, 0, n)
	for i := int32(n); i > 0; i = from[i] {
		if piece[i] == t.unk && len(ids) > 0 && ids[len(ids)-1] == t.unk {
			continue
		}
		ids = append(ids, piece[i])
	}
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}
