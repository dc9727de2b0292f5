package web

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed ui/*.html ui/*.css ui/*.js ui/*.svg ui/js
var pageFiles embed.FS

// mediaTypes of the page's files; they are not left to the machine's own table.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// registerPage serves every file of ui at the root, index.html as /. The files are public: they hold no data.
func (s *Server) registerPage() error {
	return fs.WalkDir(pageFiles, "ui", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := pageFiles.ReadFile(name)
		if err != nil {
			return err
		}
		media := mediaTypes[path.Ext(name)]
		if media == "" {
			return fmt.Errorf("%s: no media type for its extension", name)
		}
		at := "/" + strings.TrimPrefix(name, "ui/")
		if at == "/index.html" {
			at = "/{$}"
		}
		s.handle("GET "+at, routing{keyless: true}, asset(media, body))
		return nil
	})
}

// asset serves one file. The browser asks each time and is told when nothing has changed.
func asset(media string, body []byte) http.HandlerFunc {
	sum := sha256.Sum256(body)
	tag := strconv.Quote(base64.RawURLEncoding.EncodeToString(sum[:12]))
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("ETag", tag)
		h.Set("Cache-Control", "no-cache")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", media)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}
}

// index sends the page with another status than 200.
func (s *Server) index(w http.ResponseWriter, code int) {
	body, err := pageFiles.ReadFile("ui/index.html")
	if err != nil {
		panic(fmt.Errorf("embedded page: %w", err))
	}
	w.Header().Set("Content-Type", mediaTypes[".html"])
	w.WriteHeader(code)
	_, _ = w.Write(body)
}
