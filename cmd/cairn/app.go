package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"cairn/web/client"
)

// globals are the flags of every command.
type globals struct {
	Addr    string `env:"CAIRN_ADDR" default:"http://127.0.0.1:8750" help:"Address of the node (${env})." placeholder:"URL"`
	Data    string `env:"CAIRN_DATA" default:"${default_data}" help:"Data folder of the node on this machine (${env})." placeholder:"DIR"`
	KeyFile string `env:"CAIRN_KEY_FILE" help:"File with the API key (${env}); CAIRN_KEY holds the key itself." placeholder:"FILE"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// app is what a command works with.
type app struct {
	ctx     context.Context
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	globals *globals
}

// defaultDataDir is where a node keeps its data when nothing is said: the user's folder for application data.
func defaultDataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "cairn")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "cairn-data"
	}
	switch runtime.GOOS {
	case "windows":
		return filepath.Join(home, "AppData", "Local", "cairn")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "cairn")
	}
	return filepath.Join(home, ".local", "share", "cairn")
}

// client makes a client with the key that is at hand.
func (a *app) client() (*client.Client, error) {
	key, err := a.key()
	if err != nil {
		return nil, err
	}
	return a.clientWith(key)
}

// clientWith makes a client that may have many requests under way at once.
func (a *app) clientWith(key string) (*client.Client, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	c, err := client.New(a.globals.Addr, key, client.WithSession(), client.WithHTTPClient(&http.Client{Transport: t}),
		client.WithUserAgent("cairn-cli/"+version()))
	if err != nil {
		return nil, usage("--addr: %v", err)
	}
	return c, nil
}

// key finds the API key: a file that a flag names, the environment (the key, then a file), the admin key of a node on this
// machine. A file that is not the environment's came by flag.
func (a *app) key() (string, error) {
	byFlag := a.globals.KeyFile != os.Getenv("CAIRN_KEY_FILE")
	if key := os.Getenv("CAIRN_KEY"); key != "" && !byFlag {
		return key, nil
	}
	if a.globals.KeyFile != "" {
		return readKey(a.globals.KeyFile)
	}
	path := filepath.Join(a.globals.Data, "admin.key")
	if loopback(a.globals.Addr) {
		key, err := readKey(path)
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			return key, err
		}
	}
	return "", noKeyError{path}
}

// noKeyError says where a key was looked for.
type noKeyError struct{ path string }

func (e noKeyError) Error() string {
	return "no API key: set CAIRN_KEY or --key-file\n  on the machine of a node its admin key is found by itself, but there is none at " + e.path
}

func readKey(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read key: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", fmt.Errorf("read key: %s is empty", path)
	}
	return key, nil
}

// loopback reports whether an address is on this machine.
func loopback(addr string) bool {
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// show prints v as JSON, or calls human with a writer that lines up tab-separated columns.
func (a *app) show(v any, human func(w io.Writer)) error {
	if a.globals.JSON {
		return a.printJSON(v)
	}
	w := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	human(w)
	return w.Flush()
}

func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// terminal reports whether a stream is a terminal, on which progress may be shown.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// source opens a named file, or standard input for "-".
func (a *app) source(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, usage("%v", err)
	}
	return f, nil
}

// decodeFrom reads one JSON value into v and refuses unknown fields, as the server would.
func (a *app) decodeFrom(name string, v any) error {
	r, err := a.source(name)
	if err != nil {
		return err
	}
	defer r.Close()
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return usage("%s: %v", name, err)
	}
	if dec.More() {
		return usage("%s: more than one JSON value", name)
	}
	return nil
}

// oneLine makes a text fit for a table cell.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-1]) + "…"
	}
	return s
}
