package embed

import (
	_ "embed"
	"sync"
)

var (
	//go:embed model/minilm/config.json
	minilmConfig []byte
	//go:embed model/minilm/model.safetensors
	minilmWeights []byte
	//go:embed model/minilm/vocab.txt
	minilmVocab []byte

	//go:embed model/e5/config.json
	e5Config []byte
	//go:embed model/e5/model.safetensors
	e5Weights []byte
	//go:embed model/e5/tokenizer.model
	e5Tokenizer []byte
)

var (
	minilmAssets = assets{minilmConfig, minilmWeights, minilmVocab}
	e5Assets     = assets{e5Config, e5Weights, e5Tokenizer}
)

// The models are loaded on first use, once a process, and shared by all encoders.
var (
	minilm = sync.OnceValues(func() (*model, error) { return load(minilmAssets, bestForm()) })
	e5     = sync.OnceValues(func() (*model, error) { return load(e5Assets, bestForm()) })
)

func modelOf(embedderID string) (*model, error) {
	if embedderID == E5 {
		return e5()
	}
	return minilm()
}
