package embed

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func FuzzTokenizers(f *testing.F) {
	for _, s := range []string{"", "Retry-After: 30", "重试 3 次", "\xff\x00\u200b", "é̂́", strings.Repeat("a", 101), "ﬁ ㍿ ½", "🎉[SEP]"} {
		f.Add(s)
	}
	models := map[string]*model{}
	for _, id := range []string{MiniLM, E5} {
		m, err := modelOf(id)
		if err != nil {
			f.Fatal(err)
		}
		models[id] = m
	}
	f.Fuzz(func(t *testing.T, text string) {
		for id, m := range models {
			ids := m.tok.encode(m.cfg.Prefix+text, m.cfg.MaxTokens)
			if len(ids) < 2 || len(ids) > m.cfg.MaxTokens || ids[0] != m.cfg.BOS || ids[len(ids)-1] != m.cfg.EOS {
				t.Fatalf("%s: ids %v of %q", id, ids, text)
			}
			for _, x := range ids {
				if x < 0 || int(x) >= m.cfg.VocabSize {
					t.Fatalf("%s: id %d of %q", id, x, text)
				}
			}
		}
	})
}

func tinyTensors(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func FuzzReadTensors(f *testing.F) {
	f.Add([]byte{})
	f.Add(tinyTensors(`{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}`, 16))
	f.Add(tinyTensors(`{"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,17]}}`, 16))
	f.Add(tinyTensors(`{"a":{"dtype":"F16","shape":[-1],"data_offsets":[4,2]}}`, 16))
	f.Add(tinyTensors(`{"a":{"dtype":"I8","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0))
	f.Fuzz(func(t *testing.T, file []byte) {
		tensors, err := readTensors(file)
		if err != nil {
			return
		}
		for name, x := range tensors {
			if x.dtype != "F32" {
				continue
			}
			if _, err := floats(tensors, name, x.shape...); err != nil {
				t.Fatalf("tensor %q was accepted and cannot be read: %v", name, err)
			}
		}
	})
}

func FuzzCharsmap(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0, 0, 0, 0, 0}, "a")
	f.Add([]byte{8, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 'x', 0}, "ab")
	f.Fuzz(func(t *testing.T, table []byte, text string) {
		if m, err := newCharsmap(table); err == nil {
			m.apply(text)
		}
	})
}

func FuzzTokenizerModel(f *testing.F) {
	f.Add([]byte{10, 3, 10, 1, 'a'})
	f.Add(e5Tokenizer[:4096])
	f.Fuzz(func(t *testing.T, model []byte) {
		cfg := config{VocabSize: 1}
		if tok, err := newUnigram(model, cfg); err == nil {
			tok.encode("a b", 8)
		}
	})
}

func TestDamagedModel(t *testing.T) {
	good := minilmAssets
	for name, damage := range map[string]func(*assets){
		"configuration": func(a *assets) { a.config = []byte("{") },
		"no layers":     func(a *assets) { a.config = []byte(`{"embedder_id":"x"}`) },
		"weights cut":   func(a *assets) { a.weights = a.weights[:len(a.weights)/2] },
		"no weights":    func(a *assets) { a.weights = nil },
		"vocabulary":    func(a *assets) { a.tokenizer = []byte("[PAD]\n") },
		"unknown tokenizer": func(a *assets) {
			a.config = []byte(strings.Replace(string(minilmConfig), `"wordpiece",`, `"other",`, 1))
		},
		"tensor of another shape": func(a *assets) {
			a.config = []byte(strings.Replace(string(minilmConfig), `"ffn": 1536`, `"ffn": 1568`, 1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := good
			damage(&a)
			if _, err := load(a, formFloat); err == nil {
				t.Error("loaded")
			}
		})
	}
}

func TestHalfToFloat(t *testing.T) {
	for bits, want := range map[uint16]float32{0: 0, 1: 1. / (1 << 24), 0x8001: -1. / (1 << 24), 0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0400: 1. / (1 << 14)} {
		if got := halfToFloat(bits); got != want {
			t.Errorf("%#04x: got %v, want %v", bits, got, want)
		}
	}
	if got := fmt.Sprint(halfToFloat(0x7C00), halfToFloat(0xFC00), halfToFloat(0x7E00)); got != "+Inf -Inf NaN" {
		t.Errorf("got %s", got)
	}
}
