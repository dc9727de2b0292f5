package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"cairn/index/embed"
)

// calibrateCmd prints what the calibration finds for an encoder, beside the profile in use.
type calibrateCmd struct {
	EmbedURL   string `name:"embed-url" help:"OpenAI-compatible service, up to /embeddings; without it the embedded encoders. Its key is CAIRN_EMBED_KEY." placeholder:"URL"`
	EmbedModel string `name:"embed-model" help:"Its model." placeholder:"NAME"`
}

// calibrated is one encoder: InUse is nil for a model that Cairn has no chosen profile of.
type calibrated struct {
	Calibrated embed.Profile  `json:"calibrated"`
	InUse      *embed.Profile `json:"in_use"`
}

// Run calibrates. It measures thresholds and no quality, so it has no rows.
func (c calibrateCmd) Run(a *app) error {
	list, err := c.profiles(a.ctx)
	if err != nil {
		return err
	}
	if a.options.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(list)
	}
	for _, x := range list {
		fmt.Fprintf(a.stdout, "%s, %d values\n", x.Calibrated.ID, x.Calibrated.Dims)
		for _, t := range []struct {
			name string
			of   func(embed.Profile) float64
		}{
			{"unrelated", func(p embed.Profile) float64 { return p.Unrelated }},
			{"floor", func(p embed.Profile) float64 { return p.Floor }},
			{"strict", func(p embed.Profile) float64 { return p.Strict }},
			{"contrast", func(p embed.Profile) float64 { return p.Contrast }},
			{"duplicate", func(p embed.Profile) float64 { return p.Duplicate }},
		} {
			fmt.Fprintf(a.stdout, "  %-10s %.3f", t.name, t.of(x.Calibrated))
			if x.InUse != nil {
				fmt.Fprintf(a.stdout, "   in use %.3f", t.of(*x.InUse))
			}
			fmt.Fprintln(a.stdout)
		}
	}
	return nil
}

func (c calibrateCmd) profiles(ctx context.Context) ([]calibrated, error) {
	if c.EmbedURL != "" {
		remote, err := embed.NewRemote(ctx, embed.RemoteOptions{BaseURL: c.EmbedURL, Model: c.EmbedModel, Key: os.Getenv("CAIRN_EMBED_KEY")})
		if err != nil {
			return nil, err
		}
		defer remote.Close()
		return []calibrated{{Calibrated: remote.Profile()}}, nil
	}
	encoder, err := embed.New(embed.Options{})
	if err != nil {
		return nil, err
	}
	var list []calibrated
	for _, p := range embed.Profiles() {
		found, err := embed.Calibrate(ctx, func(ctx context.Context, texts []string) ([]embed.Vector, error) {
			out := make([]embed.Vector, len(texts))
			for i, text := range texts {
				var err error
				if out[i], err = encoder.EmbedAs(ctx, p.ID, text); err != nil {
					return nil, err
				}
			}
			return out, nil
		})
		if err != nil {
			return nil, err
		}
		list = append(list, calibrated{Calibrated: found, InUse: &p})
	}
	return list, nil
}
