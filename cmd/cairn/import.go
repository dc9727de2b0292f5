package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"cairn/cmd/cairn/importer"
	"cairn/node/api"
	"cairn/web/client"
)

type importCmd struct {
	Trajectories importTrajectoriesCmd `cmd:"" help:"Import attempts at tasks, one a line of JSON."`
}

type importTrajectoriesCmd struct {
	File     string `arg:"" help:"JSON lines with task_id, domain, task, attempt, agent, reward, success, steps; - is standard input."`
	Agent    string `default:"import" help:"Agent that the attempts are recorded for when the key is an admin's; enrolled if it is new."`
	Parallel int    `default:"8" help:"Groups under way at once, 1..64."`
}

// Run imports the file. A line that cannot be imported is reported with its number and the rest goes on; the command then
// ends with code 1. Rows that were imported before add nothing.
func (c importTrajectoriesCmd) Run(a *app) error {
	if c.Parallel < 1 || c.Parallel > 64 {
		return usage("--parallel must be 1..64, not %d", c.Parallel)
	}
	start := time.Now()
	file, cleanup, err := a.seekable(c.File)
	if err != nil {
		return err
	}
	defer cleanup()
	scanned, err := importer.Scan(file)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.File, err)
	}
	cl, release, err := a.importer(c.Agent)
	if err != nil {
		return err
	}
	defer release()
	bar := a.progress(scanned.Rows(), "importing")
	res, err := scanned.Import(a.ctx, cl, c.Parallel, func(rows int) { _ = bar.Add(rows) })
	_ = bar.Finish()
	if err != nil {
		return err
	}
	res.Seconds = float64(time.Since(start).Milliseconds()) / 1000
	return a.reportImport(res)
}

func (a *app) reportImport(res *importer.Result) error {
	err := a.show(res, func(w io.Writer) {
		fmt.Fprintf(w, "read\t%d rows in %.1f s\nrecorded\t%d\nalready known\t%d\n", res.Read, res.Seconds, res.Recorded, res.AlreadyKnown)
		fmt.Fprintf(w, "routes\tlong-term %d, buffer %d, discarded %d, without reward %d\n",
			res.Routes.LongTerm, res.Routes.Buffer, res.Routes.Discard, res.Routes.None)
		fmt.Fprintf(w, "experiences\t%d\n", res.Experiences)
		if len(res.Dropped) > 0 {
			fmt.Fprintf(w, "fields not kept\t%s\n", counts(res.Dropped))
		}
		for _, f := range res.Failures {
			fmt.Fprintf(w, "line %d\t%s\n", f.Line, oneLine(f.Error, 200))
		}
	})
	if err == nil && res.Failed > 0 {
		return errQuiet
	}
	return err
}

// seekable opens the input for reading at any place; standard input is first copied to a temporary file.
func (a *app) seekable(name string) (*os.File, func(), error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, usage("%v", err)
		}
		return f, func() { _ = f.Close() }, nil
	}
	f, err := os.CreateTemp("", "cairn-import-*")
	if err != nil {
		return nil, nil, fmt.Errorf("keep standard input: %w", err)
	}
	cleanup := func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	if _, err = io.Copy(f, a.stdin); err != nil {
		cleanup()
		return nil, nil, fmt.Errorf("keep standard input: %w", err)
	}
	return f, cleanup, nil
}

// importer makes the client that records. With the key of an agent that is the agent itself; with an admin's key it is
// the named agent, under a key that release removes.
func (a *app) importer(agent string) (cl *client.Client, release func(), err error) {
	own, err := a.client()
	if err != nil {
		return nil, nil, err
	}
	me, err := own.Me(a.ctx)
	if err == nil && slices.Contains(me.Roles, api.RoleAgent) {
		return own, func() {}, nil
	}
	var e *api.Error
	if err != nil && !(errors.As(err, &e) && e.Code == api.CodeNotFound) {
		return nil, nil, err
	}
	key, keyID, err := enrol(a.ctx, own, agent)
	if err != nil {
		return nil, nil, fmt.Errorf("enrol agent %s: %w", agent, err)
	}
	worker, err := a.clientWith(key)
	if err != nil {
		return nil, nil, err
	}
	return worker, func() { a.removeKey(own, agent, keyID) }, nil
}

// removeKey takes the import's key away, also when the command was interrupted.
func (a *app) removeKey(admin *client.Client, agent, keyID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), 10*time.Second)
	defer cancel()
	if _, err := admin.RemoveKey(ctx, agent, keyID); err != nil {
		fmt.Fprintf(a.stderr, "cairn: the import's key %s of agent %s was not removed: %v\n", keyID, agent, err)
	}
}

// enrol makes sure that an agent exists and returns a fresh key of it.
func enrol(ctx context.Context, cl *client.Client, agent string) (key, keyID string, err error) {
	if _, err := cl.Agent(ctx, agent); err == nil {
		made, err := cl.CreateKey(ctx, agent)
		if err != nil {
			return "", "", err
		}
		return text(made.Value.Key), made.Value.KeyID, nil
	}
	made, err := cl.CreateAgent(ctx, api.CreateAgent{ID: agent, Roles: []string{api.RoleAgent}})
	if err != nil {
		return "", "", err
	}
	return text(made.Value.Key), made.Value.KeyID, nil
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// progress is a bar on a terminal and silent elsewhere.
func (a *app) progress(total int, what string) *progressbar.ProgressBar {
	if !terminal(a.stderr) {
		return progressbar.DefaultSilent(int64(total))
	}
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}

// transfer is a bar that counts bytes; -1 is a size that is not known. The spinner moves with the bytes: by itself it would
// read the bar's state from a goroutine without its lock.
func (a *app) transfer(bytes int64, what string) *progressbar.ProgressBar {
	return progressbar.NewOptions64(bytes,
		progressbar.OptionSetWriter(a.stderr),
		progressbar.OptionSetVisibility(terminal(a.stderr)),
		progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}
