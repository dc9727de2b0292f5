package embed

import (
	"context"
	"slices"

	"github.com/viterin/vek/vek32"
)

// MaxChunks is how many chunks of a long text are embedded; what comes after them does not count.
const MaxChunks = 16

// passTokens is about how many tokens go through the layers together: enough that reading the weights does not matter, few
// enough that the activations stay in the second-level cache.
const passTokens = 96

// sequences returns the token ids of text, cut into chunks of about equal size when it is longer than the model's limit.
// Each chunk has the prefix and the special tokens. It returns ErrBlank when there is no token but these.
func (m *model) sequences(text string) ([][]int32, error) {
	limit := m.cfg.MaxTokens
	ids := m.tok.encode(m.cfg.Prefix+text, MaxChunks*limit)
	if len(ids) <= 2 {
		return nil, ErrBlank
	}
	if len(ids) <= limit {
		return [][]int32{ids}, nil
	}
	bos, body, eos := ids[0], ids[1:len(ids)-1], ids[len(ids)-1]
	prefix := m.prefix
	if len(body) < len(prefix) || !slices.Equal(body[:len(prefix)], prefix) {
		prefix = nil
	}
	body = body[len(prefix):]
	room := limit - 2 - len(prefix)
	chunks := min(MaxChunks, (len(body)+room-1)/room)
	body = body[:min(len(body), chunks*room)]
	out := make([][]int32, chunks)
	for i := range out {
		part := body[len(body)*i/chunks : len(body)*(i+1)/chunks]
		out[i] = slices.Concat([]int32{bos}, prefix, part, []int32{eos})
	}
	return out, nil
}

// vector returns the vector of text: that of its only sequence, or the mean of its chunks with unit length.
func (m *model) vector(ctx context.Context, text string) ([]float32, error) {
	seqs, err := m.sequences(text)
	if err != nil {
		return nil, err
	}
	vectors, err := m.vectors(ctx, seqs)
	if err != nil {
		return nil, err
	}
	return mean(vectors), nil
}

// vectors returns the vector of each sequence, several of them in one pass where they are short.
func (m *model) vectors(ctx context.Context, seqs [][]int32) ([][]float32, error) {
	out := make([][]float32, 0, len(seqs))
	for len(seqs) > 0 {
		n, tokens := 1, len(seqs[0])
		for n < len(seqs) && tokens+len(seqs[n]) <= passTokens {
			tokens += len(seqs[n])
			n++
		}
		part, err := m.forward(ctx, seqs[:n])
		if err != nil {
			return nil, err
		}
		out, seqs = append(out, part...), seqs[n:]
	}
	return out, nil
}

// mean returns the mean of unit vectors with unit length; one vector is returned as it is.
func mean(vectors [][]float32) []float32 {
	sum := vectors[0]
	if len(vectors) == 1 {
		return sum
	}
	for _, v := range vectors[1:] {
		vek32.Add_Inplace(sum, v)
	}
	scaleToUnit(sum)
	return sum
}
