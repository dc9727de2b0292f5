package embed

import (
	"encoding/json"
	"fmt"
	"sync"
)

// config is the part of config.json that the encoder needs; the rest of that file is for readers.
type config struct {
	ID        string  `json:"embedder_id"`
	Tokenizer string  `json:"tokenizer"`
	VocabSize int     `json:"vocab_size"`
	Hidden    int     `json:"hidden"`
	Layers    int     `json:"layers"`
	Heads     int     `json:"heads"`
	FFN       int     `json:"ffn"`
	Positions int     `json:"max_positions"`
	Epsilon   float32 `json:"ln_eps"`
	BOS       int32   `json:"bos_id"`
	EOS       int32   `json:"eos_id"`
	UNK       int32   `json:"unk_id"`
	MaxTokens int     `json:"max_tokens"`
	Prefix    string  `json:"prefix"`
}

func (c config) validate() error {
	ok := c.Hidden > 0 && c.Heads > 0 && c.Hidden%c.Heads == 0 && c.Hidden%blockSize == 0 && c.FFN > 0 && c.FFN%blockSize == 0 &&
		c.Hidden/c.Heads%tileColumns == 0 &&
		c.Layers > 0 && c.VocabSize > 0 && c.MaxTokens > 2 && c.MaxTokens <= c.Positions
	if !ok {
		return fmt.Errorf("model configuration of %q is not usable", c.ID)
	}
	return nil
}

// tokenizer turns text into ids, special tokens included.
type tokenizer interface {
	encode(text string, limit int) []int32
}

// layerNorm holds the two vectors of a LayerNorm.
type layerNorm struct{ w, b []float32 }

// layer is one post-LN transformer layer.
type layer struct {
	q, k, v, ao matrix
	aln         layerNorm
	fi, fo      matrix
	oln         layerNorm
}

// model is one encoder: tokenizer and weights. It is read-only after loading and safe for concurrent use.
type model struct {
	cfg     config
	form    form
	tok     tokenizer
	prefix  []int32 // tokens of the configured prefix
	word    rows
	place   []float32 // position plus type embedding, [positions][hidden]
	norm    layerNorm
	layers  []layer
	scratch sync.Pool // *scratch
}

// assets are the files of one encoder.
type assets struct {
	config, weights, tokenizer []byte
}

// load reads a model from its files. Matrices are brought to form f once; the word table stays as it is stored.
func load(a assets, f form) (*model, error) {
	m := &model{form: f}
	if err := json.Unmarshal(a.config, &m.cfg); err != nil {
		return nil, fmt.Errorf("model configuration: %w", err)
	}
	if err := m.cfg.validate(); err != nil {
		return nil, err
	}
	var err error
	switch m.cfg.Tokenizer {
	case "wordpiece":
		m.tok, err = newWordPiece(string(a.tokenizer), m.cfg)
	case "sentencepiece-unigram":
		m.tok, err = newUnigram(a.tokenizer, m.cfg)
	default:
		err = fmt.Errorf("unknown tokenizer %q", m.cfg.Tokenizer)
	}
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", m.cfg.ID, err)
	}
	ids := m.tok.encode(m.cfg.Prefix, m.cfg.MaxTokens)
	m.prefix = ids[1 : len(ids)-1]
	if err := m.loadWeights(a.weights); err != nil {
		return nil, fmt.Errorf("load %s: %w", m.cfg.ID, err)
	}
	return m, nil
}

func (m *model) loadWeights(file []byte) error {
	ts, err := readTensors(file)
	if err != nil {
		return err
	}
	c := m.cfg
	r := &reader{ts: ts, form: m.form}
	m.word = r.rows("emb.word", c.VocabSize, c.Hidden)
	m.place = r.floats("emb.pos", c.Positions, c.Hidden)
	kind := r.floats("emb.type", 2, c.Hidden)
	m.norm = r.norm("emb.ln", c.Hidden)
	for l := range c.Layers {
		p := fmt.Sprintf("l%d.", l)
		m.layers = append(m.layers, layer{
			q:   r.matrix(p+"q", c.Hidden, c.Hidden),
			k:   r.matrix(p+"k", c.Hidden, c.Hidden),
			v:   r.matrix(p+"v", c.Hidden, c.Hidden),
			ao:  r.matrix(p+"ao", c.Hidden, c.Hidden),
			aln: r.norm(p+"aln", c.Hidden),
			fi:  r.matrix(p+"fi", c.FFN, c.Hidden),
			fo:  r.matrix(p+"fo", c.Hidden, c.FFN),
			oln: r.norm(p+"oln", c.Hidden),
		})
	}
	if r.err != nil {
		return r.err
	}
	for i := range m.place {
		m.place[i] += kind[i%c.Hidden]
	}
	return nil
}

// reader takes tensors out of a file and keeps the first error.
type reader struct {
	ts   map[string]tensor
	form form
	err  error
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) floats(name string, shape ...int) []float32 {
	x, err := floats(r.ts, name, shape...)
	r.keep(err)
	return x
}

func (r *reader) rows(name string, out, in int) rows {
	x, err := readRows(r.ts, name+".w", out, in)
	if name == "emb.word" {
		x, err = readRows(r.ts, name, out, in)
	}
	r.keep(err)
	return x
}

func (r *reader) norm(name string, n int) layerNorm {
	return layerNorm{r.floats(name+".w", n), r.floats(name+".b", n)}
}

func (r *reader) matrix(name string, out, in int) matrix {
	w := r.rows(name, out, in)
	bias := r.floats(name+".b", out)
	if r.err != nil {
		return nil
	}
	return newMatrix(w, bias, r.form)
}
