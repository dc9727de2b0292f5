package indexbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cairn/index/embed"
)

const (
	english60 = "The nightly import of the orders stopped after the third batch because the token of the payment service had expired, and the job went on to mark every later order as failed. Ask for a new token before each batch, keep the number of the last order that was written, and start again from there when the service answers with status 401 instead of dropping the rest."
	chinese60 = "夜间订单导入在第三批之后停止，因为支付服务的令牌已经过期，任务随后把后面的每一个订单都标记为失败。每一批之前都要先申请新的令牌，保存最后写入的订单编号，当服务返回401时从那里重新开始，而不是丢掉其余的订单。"
	englishQ  = "import of orders stops when the token has expired"
	chineseQ  = "令牌过期后订单导入停止怎么办"
)

// embed measures texts one after the other. Each round has texts of its own, so that no cache answers.
func (b *bench) embed() error {
	e, err := embed.New(embed.Options{CacheSize: -1})
	if err != nil {
		return err
	}
	for _, c := range []struct{ row, text string }{
		{"embed_en_60w_ms", english60}, {"embed_zh_60w_ms", chinese60}, {"embed_query_en_ms", englishQ}, {"embed_query_zh_ms", chineseQ},
	} {
		if !b.wanted(c.row) {
			continue
		}
		if _, err := e.Embed(b.ctx, c.text); err != nil {
			return err
		}
		var values []float64
		for range rounds {
			const texts = 10
			seconds, err := cpuTime(func() error {
				for range texts {
					if _, err := e.Embed(b.ctx, c.text); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			values = append(values, 1000*seconds/texts)
		}
		b.set(c.row, values)
	}
	return nil
}

// onnx compares with the same weights in onnxruntime.
func (b *bench) onnx() error {
	e, err := embed.New(embed.Options{CacheSize: -1})
	if err != nil {
		return err
	}
	if _, err := b.python.ask("embed_open", request{"model": filepath.Join(b.o.Peers, "minilm.onnx"), "tokenizer": filepath.Join(b.o.Peers, "minilm-tokenizer.json")}); err != nil {
		return err
	}
	var texts []string
	words := strings.Fields(english60)
	for i := range 60 {
		n := 8 + i
		texts = append(texts, fmt.Sprintf("Case %d: %s", i, strings.Join(words[:min(n, len(words))], " ")))
	}
	if err := os.WriteFile(b.path("texts"), []byte(strings.Join(texts, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return b.compare("embed_vs_onnxruntime", func() (float64, error) {
		return cpuTime(func() error {
			for _, t := range texts {
				if _, err := e.Embed(b.ctx, t); err != nil {
					return err
				}
			}
			return nil
		})
	}, func() (float64, error) {
		a, err := b.python.ask("embed_run", request{"texts": b.path("texts"), "out": b.path("found")})
		return a.Seconds, err
	})
}
