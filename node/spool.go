package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"cairn/consensus"
	"cairn/node/store"
)

// spooled is a backup that arrived whole and is checked, in a temporary file.
type spooled struct {
	file     *os.File
	manifest consensus.Manifest
}

const spoolPattern = "restore-*.tmp"

// removeSpooled deletes what a process that was killed left behind.
func (n *Node) removeSpooled() error {
	left, err := filepath.Glob(filepath.Join(n.cfg.Dir, spoolPattern))
	for _, path := range left {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}

// spool receives a backup into the data folder: a request that ends half way, or a slow sender, must not hold up the site.
func (n *Node) spool(r io.Reader) (*spooled, error) {
	f, err := os.CreateTemp(n.cfg.Dir, spoolPattern)
	if err != nil {
		return nil, fmt.Errorf("receive backup: %w", err)
	}
	s := &spooled{file: f}
	if err := s.fill(r); err != nil {
		s.discard()
		return nil, err
	}
	return s, nil
}

func (s *spooled) fill(r io.Reader) error {
	if _, err := io.Copy(diskWriter{s.file}, r); err != nil {
		var disk diskError
		if errors.As(err, &disk) {
			return fmt.Errorf("receive backup: %w", err)
		}
		return damaged(err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("receive backup: %w", err)
	}
	var err error
	if s.manifest, err = consensus.InspectBackup(s.file); err != nil {
		return damaged(err)
	}
	if have := s.manifest.StateFormat; have > store.FormatVersion {
		return newerBackup(fmt.Errorf("%w: %d, this version reads up to %d", consensus.ErrNewerFormat, have, store.FormatVersion))
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("receive backup: %w", err)
	}
	return nil
}

func (s *spooled) discard() {
	_ = s.file.Close() // what was written is thrown away
	_ = os.Remove(s.file.Name())
}

// diskWriter marks the errors of this side, to tell them from those of the sender.
type diskWriter struct{ f *os.File }

type diskError struct{ error }

func (e diskError) Unwrap() error { return e.error }

func (w diskWriter) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if err != nil {
		return n, diskError{err}
	}
	return n, nil
}
