package embed

import (
	"context"
	"math"

	"github.com/viterin/vek/vek32"
)

// scratch is the working memory of one forward pass, reused between passes. Rows are there for the number of tokens rounded
// up to padTokens.
type scratch struct {
	x, q, k, v, ctx []float32 // [n][hidden]
	f               []float32 // [n][ffn]
	heads           []float32 // one head of q, k transposed, v and the result: 4 [n][hidden/heads]
	att             []float32 // [n][n]
	in              input
}

// borrow returns working memory for n tokens of which longest belong to one sequence.
func (m *model) borrow(n, longest int) *scratch {
	s, _ := m.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	n = roundUp(n, padTokens)
	width := roundUp(longest, tileColumns)
	h := m.cfg.Hidden
	for _, b := range []*[]float32{&s.x, &s.q, &s.k, &s.v, &s.ctx} {
		*b = resize(*b, n*h)
	}
	s.f = resize(s.f, n*m.cfg.FFN)
	s.heads = resize(s.heads, 4*width*h/m.cfg.Heads)
	s.att = resize(s.att, roundUp(longest, tileRows)*width)
	return s
}

// forward returns the unit vector of each sequence: BERT with LayerNorm after each block, mean over all tokens, L2 norm.
// The tokens of all sequences go through the matrices together; attention stays within a sequence. A vector does not depend
// on the other sequences. It looks at ctx before each layer.
func (m *model) forward(ctx context.Context, seqs [][]int32) ([][]float32, error) {
	n, longest := 0, 0
	for _, ids := range seqs {
		n, longest = n+len(ids), max(longest, len(ids))
	}
	s := m.borrow(n, longest)
	defer m.scratch.Put(s)
	m.embed(s.x, n, seqs)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.layer(&m.layers[i], s, n, seqs)
	}
	out := make([][]float32, len(seqs))
	at := 0
	for i, ids := range seqs {
		out[i] = m.pool(s.x[at*m.cfg.Hidden:], len(ids))
		at += len(ids)
	}
	return out, nil
}

// embed writes the sum of word, position and type embeddings, normalised, and zeros into the rows that round up.
func (m *model) embed(x []float32, n int, seqs [][]int32) {
	h := m.cfg.Hidden
	rest := x
	for _, ids := range seqs {
		for i, id := range ids {
			m.word.row(rest[:h], int(id))
			vek32.Add_Inplace(rest[:h], m.place[i*h:(i+1)*h])
			rest = rest[h:]
		}
	}
	clear(rest)
	m.norm.apply(x, n, m.cfg.Epsilon)
}

func (m *model) layer(l *layer, s *scratch, n int, seqs [][]int32) {
	h, quantise := m.cfg.Hidden, m.form == formInt8
	s.in.set(s.x, n, h, quantise)
	l.q.apply(s.q, &s.in)
	l.k.apply(s.k, &s.in)
	l.v.apply(s.v, &s.in)
	at := 0
	for _, ids := range seqs {
		m.attend(s, at, len(ids))
		at += len(ids)
	}
	s.in.set(s.ctx, n, h, quantise)
	l.ao.apply(s.q, &s.in)
	vek32.Add_Inplace(s.x, s.q)
	l.aln.apply(s.x, n, m.cfg.Epsilon)
	s.in.set(s.x, n, h, quantise)
	l.fi.apply(s.f, &s.in)
	m.gelu(s.f)
	s.in.set(s.f, n, m.cfg.FFN, quantise)
	l.fo.apply(s.q, &s.in)
	vek32.Add_Inplace(s.x, s.q)
	l.oln.apply(s.x, n, m.cfg.Epsilon)
}

func (m *model) gelu(x []float32) {
	if m.form == formInt8 {
		gelu8(&x[0], len(x)/8, &geluConstants)
		return
	}
	gelu(x)
}

// apply normalises each of n rows to mean 0 and variance 1 (without Bessel's correction), then scales and shifts.
func (l layerNorm) apply(x []float32, n int, epsilon float32) {
	h := len(l.w)
	for t := range n {
		row := x[t*h : (t+1)*h]
		vek32.SubNumber_Inplace(row, vek32.Sum(row)/float32(h))
		variance := vek32.Dot(row, row) / float32(h)
		vek32.MulNumber_Inplace(row, 1/float32(math.Sqrt(float64(variance+epsilon))))
		vek32.Mul_Inplace(row, l.w)
		vek32.Add_Inplace(row, l.b)
	}
}

// pool returns the mean of n rows with unit length.
func (m *model) pool(x []float32, n int) []float32 {
	h := m.cfg.Hidden
	mean := make([]float32, h)
	for t := range n {
		vek32.Add_Inplace(mean, x[t*h:(t+1)*h])
	}
	scaleToUnit(mean)
	return mean
}

func scaleToUnit(v []float32) {
	norm := math.Sqrt(float64(vek32.Dot(v, v)))
	vek32.MulNumber_Inplace(v, float32(1/max(norm, 1e-12)))
}
