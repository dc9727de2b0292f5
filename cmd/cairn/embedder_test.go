package main

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdEmbedder starts an embedding service whose vectors count words, and sets a variable to its URL. With "!" it stops it.
func cmdEmbedder(ts *testscript.TestScript, neg bool, args []string) {
	s := serversOf(ts)
	switch {
	case len(args) != 1:
		ts.Fatalf("usage: [!] embedder VAR")
	case neg:
		s.embedder.Close()
	default:
		s.embedder = httptest.NewServer(http.HandlerFunc(embedWords))
		ts.Defer(s.embedder.Close)
		ts.Setenv(args[0], s.embedder.URL+"/v1")
	}
}

func embedWords(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Authorization") != "Bearer a-secret" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	type one struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []one
	for i, text := range body.Input {
		v := make([]float32, 48)
		for _, word := range strings.Fields(strings.ToLower(text)) {
			h := fnv.New32a()
			h.Write([]byte(word))
			v[h.Sum32()%48]++
		}
		data = append(data, one{i, v})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}
