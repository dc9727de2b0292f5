package consensus

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// incoming is the folder where received copies of the state wait to be
// installed. A copy is a folder of files named by its ticket, and a manifest
// beside it that is written last: a copy counts once it has one.
type incoming struct {
	fs  vfs.FS
	dir string
	// format is the newest format of the state that may come, 0 for any.
	format int

	mu sync.Mutex // one copy at a time
}

// ticketPattern is what a copy's name looks like: a ULID.
var ticketPattern = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)

const ticketBytes = 26

// noTicket stands for a copy that was not sent, because the node has the state.
const noTicket = "00000000000000000000000000"

func (in *incoming) path(ticket string) string { return in.fs.PathJoin(in.dir, ticket) }

// receiveFile is receive for a reader that must end with the archive.
func (in *incoming) receiveFile(ticket string, keep func() []string, r io.Reader) (Manifest, error) {
	return in.receiveArchive(ticket, keep, r, (*archiveReader).end)
}

// receive reads an archive into the copy named ticket. Copies that came
// earlier and were never used make room, except the ones that keep names while
// nothing else is received.
func (in *incoming) receive(ticket string, keep func() []string, r io.Reader) (Manifest, error) {
	return in.receiveArchive(ticket, keep, r, func(*archiveReader) error { return nil })
}

func (in *incoming) receiveArchive(ticket string, keep func() []string, r io.Reader, after func(*archiveReader) error) (Manifest, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !ticketPattern.MatchString(ticket) {
		return Manifest{}, fmt.Errorf("receive state: ticket %q: %w", ticket, ErrCorrupt)
	}
	if err := in.cleanLocked(keep()); err != nil {
		return Manifest{}, err
	}
	a, err := openArchive(r)
	if err != nil {
		return Manifest{}, err
	}
	if err := a.manifest.fits(in.format); err != nil {
		return Manifest{}, err
	}
	if err := makeDir(in.fs, in.dir); err != nil {
		return Manifest{}, err
	}
	if err := a.extract(in.fs, in.path(ticket)); err != nil {
		return Manifest{}, err
	}
	if err := after(a); err != nil {
		return Manifest{}, errors.Join(err, in.fs.RemoveAll(in.path(ticket)))
	}
	raw, err := json.Marshal(a.manifest)
	if err != nil {
		return Manifest{}, err
	}
	return a.manifest, writeFileAtomic(in.fs, in.dir, ticket+".json", raw)
}

// manifest reads the manifest of a complete copy.
func (in *incoming) manifest(ticket string) (Manifest, error) {
	var m Manifest
	if !ticketPattern.MatchString(ticket) {
		return m, fmt.Errorf("received state %q: %w", ticket, ErrCorrupt)
	}
	f, err := in.fs.Open(in.path(ticket + ".json"))
	if err != nil {
		return m, fmt.Errorf("received state %s: %w", ticket, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(f)
	if err != nil {
		return m, fmt.Errorf("received state %s: %w", ticket, err)
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("received state %s: %w: %w", ticket, ErrCorrupt, err)
	}
	return m, nil
}

// verify checks every file of a copy against its manifest.
func (in *incoming) verify(ticket string) error {
	m, err := in.manifest(ticket)
	if err != nil {
		return err
	}
	for _, want := range m.Files {
		path := in.fs.PathJoin(in.path(ticket), want.Name)
		info, err := in.fs.Stat(path)
		if err != nil {
			return fmt.Errorf("received state %s: %w", ticket, err)
		}
		sum, err := copyFile(io.Discard, in.fs, path, want.Size)
		if err != nil {
			return fmt.Errorf("received state %s: %s: %w", ticket, want.Name, truncated(err))
		}
		if info.Size() != want.Size || hex.EncodeToString(sum) != want.SHA256 {
			return fmt.Errorf("received state %s: %s: %w", ticket, want.Name, ErrCorrupt)
		}
	}
	return nil
}

// clean removes every copy but those that keep names. While a copy is being received
// it does nothing: it is called where nobody may wait for the network, and the
// next copy cleans up as well.
func (in *incoming) clean(keep func() []string) error {
	if !in.mu.TryLock() {
		return nil
	}
	defer in.mu.Unlock()
	return in.cleanLocked(keep())
}

// remove drops one copy that is not needed any more.
func (in *incoming) remove(ticket string) error {
	return errors.Join(in.fs.RemoveAll(in.path(ticket+".json")), in.fs.RemoveAll(in.path(ticket)))
}

// complete lists the copies that have a manifest, oldest first.
func (in *incoming) complete() []string {
	names, err := in.fs.List(in.dir)
	if err != nil {
		return nil // there never was a copy
	}
	var tickets []string
	for _, name := range names {
		if ticket, ok := strings.CutSuffix(name, ".json"); ok && ticketPattern.MatchString(ticket) {
			tickets = append(tickets, ticket)
		}
	}
	slices.Sort(tickets)
	return tickets
}

func (in *incoming) cleanLocked(keep []string) error {
	names, err := in.fs.List(in.dir)
	if err != nil {
		return nil // there never was a copy
	}
	var errs []error
	for _, name := range names {
		if slices.Contains(keep, strings.TrimSuffix(name, ".json")) {
			continue
		}
		errs = append(errs, in.fs.RemoveAll(in.path(name)))
	}
	return errors.Join(errs...)
}
