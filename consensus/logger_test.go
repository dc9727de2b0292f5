package consensus

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

// TestACleanEndLogsNoError: raft reports the listener that this node closed as a failure.
func TestACleanEndLogsNoError(t *testing.T) {
	var out bytes.Buffer
	l := newRaftLogger(slog.New(slog.NewTextHandler(&out, nil)))
	l.Log(hclog.Error, "failed to accept connection", "error", fmt.Errorf("accept: %w", net.ErrClosed))
	if out.Len() != 0 {
		t.Errorf("logged %s", out.String())
	}
	l.Log(hclog.Error, "failed to accept connection", "error", fmt.Errorf("too many open files"))
	if !strings.Contains(out.String(), "level=ERROR") {
		t.Errorf("a real failure was logged as %q", out.String())
	}
}
