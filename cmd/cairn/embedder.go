package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cairn/index/embed"
	"cairn/node"
)

// embedderFlags choose another encoder than the embedded ones. All nodes of a site need the same.
type embedderFlags struct {
	EmbedURL     string `name:"embed-url" env:"CAIRN_EMBED_URL" help:"OpenAI-compatible service that makes vectors, up to /embeddings; the embedded encoders without it. The same on all nodes; see cairn reembed (${env})." placeholder:"URL"`
	EmbedModel   string `name:"embed-model" env:"CAIRN_EMBED_MODEL" help:"Its model (${env})." placeholder:"NAME"`
	EmbedKeyFile string `name:"embed-key-file" env:"CAIRN_EMBED_KEY_FILE" type:"existingfile" help:"File with its key; else CAIRN_EMBED_KEY (${env})." placeholder:"FILE"`
}

// profileFile keeps what a probe found, so that the node starts while the service is down.
const profileFile = "embedder.json"

func (f embedderFlags) checkEmbedder() error {
	if (f.EmbedURL == "") != (f.EmbedModel == "") {
		return usage("--embed-url and --embed-model go together")
	}
	return nil
}

// open makes the encoder, or nil for the embedded ones.
func (f embedderFlags) open(ctx context.Context, data string) (node.Encoder, error) {
	if f.EmbedURL == "" {
		return nil, nil
	}
	key := os.Getenv("CAIRN_EMBED_KEY")
	if f.EmbedKeyFile != "" {
		raw, err := os.ReadFile(f.EmbedKeyFile)
		if err != nil {
			return nil, fmt.Errorf("key of the embedding service: %w", err)
		}
		key = strings.TrimSpace(string(raw))
	}
	path := filepath.Join(data, profileFile)
	known, err := readProfile(path)
	if err != nil {
		return nil, err
	}
	o := embed.RemoteOptions{BaseURL: f.EmbedURL, Model: f.EmbedModel, Key: key}
	if known != nil && strings.HasPrefix(known.ID, "openai:"+f.EmbedModel+"@") {
		o.Profile = known
	}
	remote, err := embed.NewRemote(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Profile == nil {
		if err := writeProfile(path, remote.Profile()); err != nil {
			remote.Close()
			return nil, err
		}
	}
	return remote, nil
}

func readProfile(path string) (*embed.Profile, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p embed.Profile
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; delete it to have the model probed again", path, err)
	}
	return &p, nil
}

func writeProfile(path string, p embed.Profile) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the profile of the embedding model: %w", err)
	}
	return nil
}
