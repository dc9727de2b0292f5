package indexbench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// request is what a peer is asked; answer what it says.
type request map[string]any

type answer struct {
	Error    string            `json:"error"`
	Seconds  float64           `json:"seconds"` // CPU time of the process
	Wall     float64           `json:"wall"`
	Versions map[string]string `json:"versions"`
}

// peer is a process that answers a line for a line.
type peer struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// errPeer says that a peer cannot be had or failed.
var errPeer = errors.New("peer")

// startPython and startGo start the processes that the script prepared in folder.
func startPython(ctx context.Context, folder string) (*peer, error) {
	return startPeer(ctx, filepath.Join(folder, "venv", "bin", "python"), filepath.Join(folder, "peer.py"))
}

func startGo(ctx context.Context, folder string) (*peer, error) {
	return startPeer(ctx, filepath.Join(folder, "gopeer"))
}

func startPeer(ctx context.Context, name string, args ...string) (*peer, error) {
	if _, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("%w: peers/index.sh has not been run: %w", errPeer, err)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	for _, v := range os.Environ() {
		// These slow numpy down where they are set; no peer is to be held back by them.
		if !strings.HasPrefix(v, "OPENBLAS_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errPeer, err)
	}
	return &peer{cmd: cmd, in: in, out: bufio.NewReader(out)}, nil
}

// ask sends a request and waits for the answer. It may be called on nil, a peer that cannot be had.
func (p *peer) ask(op string, r request) (answer, error) {
	if p == nil {
		return answer{}, fmt.Errorf("%w: not at hand; see peers/index.sh", errPeer)
	}
	r["op"] = op
	line, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return answer{}, fmt.Errorf("%w: %s: %w", errPeer, op, err)
	}
	line, err = p.out.ReadBytes('\n')
	if err != nil {
		return answer{}, fmt.Errorf("%w: %s: %w", errPeer, op, err)
	}
	var a answer
	if err := json.Unmarshal(line, &a); err != nil {
		return answer{}, fmt.Errorf("%w: %s: %w", errPeer, op, err)
	}
	if a.Error != "" {
		return answer{}, fmt.Errorf("%w: %s: %s", errPeer, op, a.Error)
	}
	return a, nil
}

// close ends the process.
func (p *peer) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
