package embed

import (
	"context"
	"math"

	"github.com/viterin/vek/vek32"
)

// scratch is the working memory of one forward pass, reused between passes.
type scratch struct {
	x, q, k, v, ctx []float32 // [n][hidden]
	f               []float32 // [n][ffn]
	heads           []float32 // one head of q, k transposed, v and the result: 4 [n][hidden/heads]
	att             []float32 // [n][n]
}

func (m *model) borrow(n int) *scratch {
	s, _ := m.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	h := m.cfg.Hidden
	for _, b := range []*[]float32{&s.x, &s.q, &s.k, &s.v, &s.ctx} {
		*b = resize(*b, n*h)
	}
	s.f = resize(s.f, n*m.cfg.FFN)
	s.heads = resize(s.heads, 4*n*h/m.cfg.Heads)
	s.att = resize(s.att, n*n)
	return s
}

func resize(b []float32, n int) []float32 {
	if cap(b) < n {
		return make([]float32, n)
	}
	return b[:n]
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

// embed writes the sum of word, position and type embeddings, normalised.
func (m *model) embed(x []float32, ids []int32) {
	h := m.cfg.Hidden
	for i, id := range ids {
		row := x[i*h : (i+1)*h]
		m.word.row(row, int(id))
		vek32.Add_Inplace(row, m.place[i*h:(i+1)*h])
	}
	m.norm.apply(x, len(ids), m.cfg.Epsilon)
}

func (m *model) layer(l *layer, s *scratch, n int) {
	l.q.apply(s.q, s.x, n)
	l.k.apply(s.k, s.x, n)
	l.v.apply(s.v, s.x, n)
	m.attend(s, n)
	l.ao.apply(s.q, s.ctx, n)
	vek32.Add_Inplace(s.x, s.q)
	l.aln.apply(s.x, n, m.cfg.Epsilon)
	l.fi.apply(s.f, s.x, n)
	gelu(s.f)
	l.fo.apply(s.q, s.f, n)
	vek32.Add_Inplace(s.x, s.q)
	l.oln.apply(s.x, n, m.cfg.Epsilon)
}

// attend writes softmax(q k' / sqrt(d)) v of every head to s.ctx.
func (m *model) attend(s *scratch, n int) {
	h, d := m.cfg.Hidden, m.cfg.Hidden/m.cfg.Heads
	q, kt, v, c := s.heads[:n*d], s.heads[n*d:2*n*d], s.heads[2*n*d:3*n*d], s.heads[3*n*d:4*n*d]
	scale := float32(1 / math.Sqrt(float64(d)))
	for head := range m.cfg.Heads {
		for t := range n {
			at := t*h + head*d
			copy(q[t*d:], s.q[at:at+d])
			copy(v[t*d:], s.v[at:at+d])
			for j, x := range s.k[at : at+d] {
				kt[j*n+t] = x * scale
			}
		}
		multiply(s.att, q, kt, n, d, n)
		for t := range n {
			softmax(s.att[t*n : (t+1)*n])
		}
		multiply(c, s.att, v, n, n, d)
		for t := range n {
			copy(s.ctx[t*h+head*d:], c[t*d:(t+1)*d])
		}
	}
}

// multiply is dst = x y with x [m][k] and y [k][n]. vek32 starts goroutines for four rows or more of a large product; the
// encoder's parallelism is between texts, so rows go three at a time.
func multiply(dst, x, y []float32, m, k, n int) {
	for i := 0; i < m; i += 3 {
		j := min(m, i+3)
		vek32.MatMul_Into(dst[i*n:j*n], x[i*k:j*k], y, k)
	}
}

// softmax clamps at -80, where e^x is far below the precision of the sum: vek32.Exp gives nonsense from -89 to -103.
func softmax(x []float32) {
	vek32.SubNumber_Inplace(x, vek32.Max(x))
	vek32.MaximumNumber_Inplace(x, -80)
	vek32.Exp_Inplace(x)
	vek32.MulNumber_Inplace(x, 1/vek32.Sum(x))
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
