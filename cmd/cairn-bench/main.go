// Command cairn-bench measures Cairn and holds the figures against bars. Every row of its output was measured in the run
// that printed it. `cairn-bench list` names the commands and their rows; a command ends with code 1 when a row misses its
// bar.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// options are the flags of every command.
type options struct {
	JSON  bool   `name:"json" help:"Print JSON."`
	Quick bool   `help:"Smaller runs of the same rows, at most 10 minutes a command."`
	Data  string `help:"Folder of data files; rows whose file is missing are left out with a note." placeholder:"DIR"`
	Seed  uint64 `default:"1" help:"Seed of what is drawn at random."`
}

type root struct {
	Help helpFlag `name:"help" short:"h" help:"Show help."`
	options

	List      listCmd      `cmd:"" help:"Name every command and its rows."`
	API       apiCmd       `cmd:"" name:"api" help:"Latency of the REST calls on a one-node site, and import of recorded attempts."`
	Eval      evalCmd      `cmd:"" help:"Quality on data sets."`
	Index     indexCmd     `cmd:"" help:"The index against other libraries: vectors, keywords, encoders."`
	Cluster   clusterCmd   `cmd:"" help:"A site of three against etcd, the log store and snapshots against the usual ones."`
	Calibrate calibrateCmd `cmd:"" help:"Find the thresholds of an encoder from a fixed set of texts."`
	Docs      helpCmd      `cmd:"" name:"help" help:"Describe the data files."`

	ClusterProcess clusterProcessCmd `cmd:"" hidden:"" help:"A process of a measured site."`
}

// app is what a command works with.
type app struct {
	ctx     context.Context
	stdout  io.Writer
	stderr  io.Writer
	options *options
}

// errBar ends a command whose rows have been printed and miss a bar.
var errBar = errors.New("a row misses its bar")

// run is the whole program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var r root
	parser, err := kong.New(&r, kong.Name("cairn-bench"), kong.Description("Measures Cairn and holds the figures against bars."),
		kong.Writers(stdout, stderr), kong.NoDefaultHelp(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		return fail(stderr, exitFailed, err)
	}
	parsed, err := parser.Parse(args)
	if errors.Is(err, errHelp) {
		return exitOK
	}
	if err != nil {
		return fail(stderr, exitUsage, fmt.Errorf("%w (`cairn-bench --help` lists commands and flags)", err))
	}
	err = parsed.Run(&app{ctx: ctx, stdout: stdout, stderr: stderr, options: &r.options})
	if err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}

func fail(stderr io.Writer, code int, err error) int {
	fmt.Fprintln(stderr, "cairn-bench:", err)
	return code
}

var errHelp = errors.New("help printed")

type helpFlag bool

// BeforeReset prints the help of the command named so far.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelp
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
