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

func (m *model) borrow(n int) *scratch {
	s, _ := m.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	n, width := roundUp(n, padTokens), roundUp(n, tileColumns)
	h := m.cfg.Hidden
	for _, b := range []*[]float32{&s.x, &s.q, &s.k, &s.v, &s.ctx} {
		*b = resize(*b, n*h)
	}
	s.f = resize(s.f, n*m.cfg.FFN)
	s.heads = resize(s.heads, 4*width*h/m.cfg.Heads)
	s.att = resize(s.att, n*width)
	return s
}

// forward returns the unit vector of ids: BERT with LayerNorm after each block, mean over all tokens, L2 norm.
// It looks at ctx before each layer.
func (m *model) forward(ctx context.Context, ids []int32) ([]float32, error) {
	n := len(ids)
	s := m.borrow(n)
	defer m.scratch.Put(s)
	m.embed(s.x, ids)
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.layer(&m.layers[i], s, n)
	}
	return m.pool(s.x, n), nil
}

// embed writes the sum of word, position and type embeddings, normalised, and zeros into the rows that round up.
func (m *model) embed(x []float32, ids []int32) {
	h := m.cfg.Hidden
	for i, id := range ids {
		row := x[i*h : (i+1)*h]
		m.word.row(row, int(id))
		vek32.Add_Inplace(row, m.place[i*h:(i+1)*h])
	}
	m.norm.apply(x, len(ids), m.cfg.Epsilon)
	clear(x[len(ids)*h:])
}

func (m *model) layer(l *layer, s *scratch, n int) {
	h, quantise := m.cfg.Hidden, m.form == formInt8
	s.in.set(s.x, n, h, quantise)
	l.q.apply(s.q, &s.in)
	l.k.apply(s.k, &s.in)
	l.v.apply(s.v, &s.in)
	m.attend(s, n)
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
	norm := math.Sqrt(float64(vek32.Dot(mean, mean)))
	vek32.MulNumber_Inplace(mean, float32(1/max(norm, 1e-12)))
	return mean
}
