package embed

import (
	"context"
	"strings"
	"testing"
)

func BenchmarkForward(b *testing.B) {
	cases := []struct{ name, id, text string }{
		{"en_query", MiniLM, "how to retry after too many requests"},
		{"en_60w", MiniLM, strings.Repeat("when the remote service answers with too many requests wait for a short while ", 5)[:390]},
		{"zh_query", E5, "请求过多时如何重试"},
		{"zh_60w", E5, strings.Repeat("当远程服务返回请求过多时，请稍等片刻再重试。", 4)},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			m, err := modelOf(c.id)
			if err != nil {
				b.Fatal(err)
			}
			n := len(m.tok.encode(m.cfg.Prefix+c.text, m.cfg.MaxTokens))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := m.vector(context.Background(), c.text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n), "tokens")
		})
	}
}
