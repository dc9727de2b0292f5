package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"cairn/consensus"
	"cairn/node/api"
)

type backupCmd struct {
	File string `arg:"" help:"File to write; it must not exist."`
}

// Run copies the site's state and checks the copy before it gets its name.
func (c backupCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(c.File); err == nil {
		return usage("%s exists", c.File)
	}
	part := c.File + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return usage("%v", err)
	}
	defer func() {
		// After the rename there is nothing left to remove; after a failure what stays is named .part.
		if rerr := os.Remove(part); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
			fmt.Fprintln(a.stderr, "cairn:", rerr)
		}
	}()
	bar := a.transfer(-1, "backup")
	err = cl.Backup(a.ctx, io.MultiWriter(f, bar))
	_ = bar.Finish()
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	m, err := inspect(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("the backup did not arrive whole: %w", err)
	}
	if err := os.Rename(part, c.File); err != nil {
		return err
	}
	b := api.Backup{
		Site: m.Site, Epoch: m.Epoch, Index: m.Index, Term: m.Term, Format: m.Format, Files: len(m.Files), Bytes: m.Bytes(),
		CreatedAt: api.Time(m.CreatedMs),
	}
	return a.show(b, func(w io.Writer) { printBackup(w, c.File, b) })
}

func inspect(f *os.File) (consensus.Manifest, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return consensus.Manifest{}, err
	}
	return consensus.InspectBackup(f)
}

func printBackup(w io.Writer, file string, b api.Backup) {
	fmt.Fprintf(w, "backup\t%s\t%d bytes in %d files, made %s\n", file, b.Bytes, b.Files, b.CreatedAt)
	fmt.Fprintf(w, "of site\t%s\tepoch %d, index %d\n", b.Site, b.Epoch, b.Index)
}

type restoreCmd struct {
	File string `arg:"" help:"Backup to restore."`
	Yes  bool   `help:"Do it. Without it the command checks the backup and changes nothing."`
}

// Run has the node check the backup, and with --yes replace the state of the whole site by it.
func (c restoreCmd) Run(a *app) error {
	cl, err := a.client()
	if err != nil {
		return err
	}
	f, err := os.Open(c.File)
	if err != nil {
		return usage("%v", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	bar := a.transfer(info.Size(), "restore")
	done, err := cl.Restore(a.ctx, io.TeeReader(f, bar), !c.Yes)
	_ = bar.Finish()
	if err != nil {
		return err
	}
	if err := a.show(done, func(w io.Writer) { printRestored(w, c.File, done) }); err != nil {
		return err
	}
	if done.DryRun {
		fmt.Fprintf(a.stderr, "Nothing was changed. `cairn restore %s --yes` replaces everything the site holds by this backup.\n", c.File)
	} else {
		fmt.Fprintln(a.stderr, "The keys that count now are those of the backup; an admin.key of this folder that it does not know is of no use.")
	}
	return nil
}

func printRestored(w io.Writer, file string, r api.Restored) {
	printBackup(w, file, r.Backup)
	did := "restored; the site is now"
	if r.DryRun {
		did = "would replace"
	}
	fmt.Fprintf(w, "%s\t%s\tepoch %d, index %d\n", did, r.Site, r.Epoch, r.Index)
}
