// Command cairn is Cairn's server and its command line: `cairn serve` runs a node, `cairn demo` shows the whole loop on a
// temporary one, and the other commands talk to a node over HTTP.
//
// The node is found at --addr or CAIRN_ADDR. The API key comes from CAIRN_KEY, from the file named by --key-file, or, on
// the machine of the server, from the admin key in its data folder. Exit codes: 0 ok, 1 failed, 2 usage, 3 not found,
// 4 denied, 5 unavailable.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// root is the command line.
type root struct {
	Help helpFlag `short:"h" help:"Show help."`
	globals

	Serve      serveCmd      `cmd:"" help:"Run a node."`
	Demo       demoCmd       `cmd:"" help:"Show the whole loop: agents without memory, with a private one, with a shared one."`
	Status     statusCmd     `cmd:"" help:"Show whether the node is ready, its site and what it holds."`
	Agent      agentCmd      `cmd:"" help:"Enrol and list agents."`
	Record     recordCmd     `cmd:"" help:"Record an experience or a trajectory."`
	Recall     recallCmd     `cmd:"" help:"Ask for experiences that fit a task."`
	Outcome    outcomeCmd    `cmd:"" help:"Report what happened after a recall."`
	Reflect    reflectCmd    `cmd:"" help:"Compare a failure with a past success: a hypothesis for a retry."`
	Retried    retriedCmd    `cmd:"" help:"Report how a retry ended."`
	Feed       feedCmd       `cmd:"" help:"Follow the live feed."`
	Trust      trustCmd      `cmd:"" help:"Show every term of an experience's trust."`
	Provenance provenanceCmd `cmd:"" help:"Show where an experience came from."`
	Promotions promotionsCmd `cmd:"" help:"List, approve and reject decisions about the meta-pool."`
	Hold       holdCmd       `cmd:"" help:"Stop an experience and what was derived from it."`
	Release    releaseCmd    `cmd:"" help:"End a hold."`
	Revoke     revokeCmd     `cmd:"" help:"Call an experience back from all who were given it."`
	Audit      auditCmd      `cmd:"" help:"Draw samples of the meta-pool and judge them."`
	Alerts     alertsCmd     `cmd:"" help:"Show signs of collusion or ill health."`
	Models     modelsCmd     `cmd:"" help:"Show which language models are asked, their budget and what they cost."`
	Cluster    clusterCmd    `cmd:"" help:"Show and change the nodes of the site; make certificates for them."`
	Backup     backupCmd     `cmd:"" help:"Write a copy of the whole site to a file, while writes go on."`
	Restore    restoreCmd    `cmd:"" help:"Replace the state of the whole site by a backup."`
	Reembed    reembedCmd    `cmd:"" help:"Make the vectors anew after a change of the encoder, while the site goes on."`
	Import     importCmd     `cmd:"" help:"Import data of other systems."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print a completion script for a shell."`
}

// run is the whole program: it reads nothing but its arguments and the environment and never exits the process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var r root
	parser, err := kong.New(&r,
		kong.Name("cairn"),
		kong.Description("Memory for fleets of AI agents: experiences that agents recorded, shared once others have proved them useful."),
		kong.Writers(stdout, stderr),
		kong.Vars{"default_data": defaultDataDir()},
		kong.NoDefaultHelp(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		return fail(stderr, err)
	}
	parsed, err := parser.Parse(args)
	if errors.Is(err, errHelp) {
		return 0
	}
	if err != nil {
		return fail(stderr, usage("%v (`cairn --help` lists commands and flags)", err))
	}
	a := &app{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, globals: &r.globals}
	return fail(stderr, parsed.Run(a))
}

// errHelp ends parsing after the help has been printed.
var errHelp = errors.New("help printed")

type helpFlag bool

// BeforeReset prints the help of the command named so far.
func (helpFlag) BeforeReset(ctx *kong.Context) error {
	if err := ctx.PrintUsage(false); err != nil {
		return err
	}
	return errHelp
}
