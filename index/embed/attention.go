package embed

import (
	"math"

	"github.com/viterin/vek/vek32"
)

// attend writes softmax(q k' / sqrt(d)) v of every head to s.ctx for the n tokens from number first on.
func (m *model) attend(s *scratch, first, n int) {
	at := first * m.cfg.Hidden
	q, k, v, ctx := s.q[at:], s.k[at:], s.v[at:], s.ctx[at:]
	scale := float32(1 / math.Sqrt(float64(m.cfg.Hidden/m.cfg.Heads)))
	if m.form == formInt8 {
		m.attendTiles(s, q, k, v, ctx, n, scale)
	} else {
		m.attendRows(s, q, k, v, ctx, n, scale)
	}
}

// attendRows is the portable form: one head after the other is copied to rows without gaps.
func (m *model) attendRows(s *scratch, q, k, v, ctx []float32, n int, scale float32) {
	h, d := m.cfg.Hidden, m.cfg.Hidden/m.cfg.Heads
	att := s.att[:n*n]
	q1, kt, v1, c1 := s.heads[:n*d], s.heads[n*d:2*n*d], s.heads[2*n*d:3*n*d], s.heads[3*n*d:4*n*d]
	for head := range m.cfg.Heads {
		for t := range n {
			at := t*h + head*d
			copy(q1[t*d:], q[at:at+d])
			copy(v1[t*d:], v[at:at+d])
			for j, x := range k[at : at+d] {
				kt[j*n+t] = x * scale
			}
		}
		multiply(att, q1, kt, n, d, n)
		for t := range n {
			softmax(att[t*n : (t+1)*n])
		}
		multiply(c1, att, v1, n, n, d)
		for t := range n {
			copy(ctx[t*h+head*d:], c1[t*d:(t+1)*d])
		}
	}
}

// attendTiles is the form with gemm4x16: q, v and the result stay where they are, only k is transposed. The last tile of
// rows may write into the rows of the next sequence, which is computed after this one.
func (m *model) attendTiles(s *scratch, q, k, v, ctx []float32, n int, scale float32) {
	h, d := m.cfg.Hidden, m.cfg.Hidden/m.cfg.Heads
	width := roundUp(n, tileColumns)
	kt := s.heads[:d*width]
	clear(kt)
	for head := range m.cfg.Heads {
		for t := range n {
			for j, x := range k[t*h+head*d:][:d] {
				kt[j*width+t] = x * scale
			}
		}
		for t := 0; t < n; t += tileRows {
			for c := 0; c < width; c += tileColumns {
				gemm4x16(&s.att[t*width+c], floatBytes(width), &q[t*h+head*d], floatBytes(h), &kt[c], floatBytes(width), d)
			}
		}
		softmaxTiles(s.att, n, width)
		for t := 0; t < n; t += tileRows {
			for c := 0; c < d; c += tileColumns {
				gemm4x16(&ctx[t*h+head*d+c], floatBytes(h), &s.att[t*width], floatBytes(width), &v[head*d+c], floatBytes(h), n)
			}
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

// softmaxTiles is softmax of the first n values of n rows of att, width apart. What is behind them up to a multiple of eight is
// made so small that it does not count; nothing reads it afterwards.
func softmaxTiles(att []float32, n, width int) {
	padded := roundUp(n, 8)
	for t := range n {
		for i := t*width + n; i < t*width+padded; i++ {
			att[i] = -math.MaxFloat32
		}
	}
	softmaxRows(&att[0], n, int(floatBytes(width)), padded/8, &softmaxConstants)
}

// softmaxConstants are used by softmaxRows: see geluConstants for e^x.
var softmaxConstants = [11]float32{
	-80, math.Log2E, -.693359375, 2.12194440e-4,
	1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
}
