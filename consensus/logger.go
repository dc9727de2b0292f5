package consensus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"runtime"

	"github.com/hashicorp/go-hclog"
)

// raftLogger gives raft's messages to slog. Raft's info level describes its
// inner workings, so it arrives as debug; the group logs elections itself.
type raftLogger struct {
	out  *slog.Logger
	name string
	args []any
}

var _ hclog.Logger = (*raftLogger)(nil)

func newRaftLogger(out *slog.Logger) *raftLogger {
	return &raftLogger{out: out, name: "raft"}
}

func slogLevel(level hclog.Level) slog.Level {
	switch level {
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	default:
		return slog.LevelDebug
	}
}

// Log implements hclog.Logger.
func (l *raftLogger) Log(level hclog.Level, msg string, args ...any) {
	lvl := slogLevel(level)
	if closing(args) {
		lvl = slog.LevelDebug
	}
	if !l.out.Enabled(context.Background(), lvl) {
		return
	}
	l.out.Log(context.Background(), lvl, "raft", append([]any{"event", msg}, plainArgs(args)...)...)
}

// closing reports whether a message is about a connection that this node closed itself, which is how it ends: the transport
// gate goes before raft does.
func closing(args []any) bool {
	for _, a := range args {
		if err, ok := a.(error); ok && errors.Is(err, net.ErrClosed) {
			return true
		}
	}
	return false
}

// plainArgs renders hclog's delayed formats and drops raw requests, which
// would carry commands into the log.
func plainArgs(args []any) []any {
	out := make([]any, 0, len(args))
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "command" {
			continue
		}
		value := args[i+1]
		if f, ok := value.(hclog.Format); ok && len(f) > 0 {
			value = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
		out = append(out, args[i], value)
	}
	return out
}

// Trace implements hclog.Logger.
func (l *raftLogger) Trace(msg string, args ...any) { l.Log(hclog.Trace, msg, args...) }

// Debug implements hclog.Logger.
func (l *raftLogger) Debug(msg string, args ...any) { l.Log(hclog.Debug, msg, args...) }

// Info implements hclog.Logger.
func (l *raftLogger) Info(msg string, args ...any) { l.Log(hclog.Info, msg, args...) }

// Warn implements hclog.Logger.
func (l *raftLogger) Warn(msg string, args ...any) { l.Log(hclog.Warn, msg, args...) }

// Error implements hclog.Logger.
func (l *raftLogger) Error(msg string, args ...any) { l.Log(hclog.Error, msg, args...) }

// IsTrace implements hclog.Logger.
func (l *raftLogger) IsTrace() bool { return false }

// IsDebug implements hclog.Logger.
func (l *raftLogger) IsDebug() bool { return l.out.Enabled(context.Background(), slog.LevelDebug) }

// IsInfo implements hclog.Logger.
func (l *raftLogger) IsInfo() bool { return l.IsDebug() }

// IsWarn implements hclog.Logger.
func (l *raftLogger) IsWarn() bool { return true }

// IsError implements hclog.Logger.
func (l *raftLogger) IsError() bool { return true }

// ImpliedArgs implements hclog.Logger.
func (l *raftLogger) ImpliedArgs() []any { return l.args }

// With implements hclog.Logger.
func (l *raftLogger) With(args ...any) hclog.Logger {
	plain := plainArgs(args)
	return &raftLogger{out: l.out.With(plain...), name: l.name, args: append(l.args[:len(l.args):len(l.args)], plain...)}
}

// Name implements hclog.Logger.
func (l *raftLogger) Name() string { return l.name }

// Named implements hclog.Logger.
func (l *raftLogger) Named(name string) hclog.Logger { return l.ResetNamed(l.name + "." + name) }

// ResetNamed implements hclog.Logger.
func (l *raftLogger) ResetNamed(name string) hclog.Logger {
	return &raftLogger{out: l.out, name: name, args: l.args}
}

// SetLevel implements hclog.Logger; slog's handler decides the level.
func (l *raftLogger) SetLevel(hclog.Level) {}

// GetLevel implements hclog.Logger.
func (l *raftLogger) GetLevel() hclog.Level { return hclog.Debug }

// StandardLogger implements hclog.Logger.
func (l *raftLogger) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return slog.NewLogLogger(l.out.Handler(), slog.LevelDebug)
}

// StandardWriter implements hclog.Logger.
func (l *raftLogger) StandardWriter(opts *hclog.StandardLoggerOptions) io.Writer {
	return l.StandardLogger(opts).Writer()
}

// pebbleLogger gives Pebble's messages to slog. Pebble calls Fatalf when it
// cannot say any more what is on disk and does not expect it to return.
type pebbleLogger struct {
	out     *slog.Logger
	onFatal func(error)
}

// Infof implements pebble.Logger.
func (l pebbleLogger) Infof(format string, args ...any) {
	if l.out.Enabled(context.Background(), slog.LevelDebug) {
		l.out.Debug("pebble", "event", fmt.Sprintf(format, args...))
	}
}

// Errorf implements pebble.Logger.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.out.Error("pebble", "event", fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.onFatal(fmt.Errorf("raft log database: "+format, args...))
	// Only reached when OnFatal broke its contract: the goroutine must not
	// carry on as if the data were on disk.
	runtime.Goexit()
}
