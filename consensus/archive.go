package consensus

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An archive carries a copy of the state, to a follower or into a backup:
//
//	archiveMagic
//	length of the manifest (4 bytes, big endian), the manifest as JSON
//	for every file of the manifest: its bytes
//	sha256 of everything before (32 bytes)
//
// The manifest names every file with its size and sha256, so a damaged archive
// is told from a good one, and which file is damaged.
var archiveMagic = []byte("CAIRNARC")

// archiveFormat is the version that this code writes and the newest it reads.
const archiveFormat = 1

const maxManifestBytes = 16 << 20

// Manifest describes an archive of the state.
type Manifest struct {
	// Format is the version of the archive.
	Format int `json:"format"`
	// Site and Epoch are what the caller of Backup said about the state.
	Site  string `json:"site,omitempty"`
	Epoch uint64 `json:"epoch,omitempty"`
	// Index and Term are those of the last entry in the state.
	Index uint64 `json:"index"`
	Term  uint64 `json:"term"`
	// StateFormat is the version of the state's own format, see StateFormatter;
	// 0 when the state machine has none.
	StateFormat int `json:"state_format,omitempty"`
	// CreatedMs is when the copy was made, Unix milliseconds.
	CreatedMs int64 `json:"created_ms"`
	// Files are the state's files, sorted by name.
	Files []ManifestFile `json:"files"`
}

// ManifestFile is one file of an archive.
type ManifestFile struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	// SHA256 is in hex.
	SHA256 string `json:"sha256"`
}

// Bytes is the size of all files together.
func (m Manifest) Bytes() int64 {
	var n int64
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// describeDir lists the files of dir with their checksums.
func describeDir(fs vfs.FS, dir string) ([]ManifestFile, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	files := make([]ManifestFile, 0, len(names))
	for _, name := range names {
		f, err := describeFile(fs, fs.PathJoin(dir, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.Name = name
		files = append(files, f)
	}
	return files, nil
}

func describeFile(fs vfs.FS, path string) (ManifestFile, error) {
	f, err := fs.Open(path)
	if err != nil {
		return ManifestFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	return ManifestFile{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// writeArchive writes the files that m names from dir to w.
func writeArchive(w io.Writer, fs vfs.FS, dir string, m Manifest) error {
	sum := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, sum), 256<<10)
	head, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, _ = out.Write(archiveMagic)
	_, _ = out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(head))))
	_, _ = out.Write(head) // a bufio.Writer keeps its first error for later
	for _, f := range m.Files {
		if err := copyFile(out, fs, fs.PathJoin(dir, f.Name), f.Size); err != nil {
			return fmt.Errorf("archive %s: %w", f.Name, err)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

func copyFile(w io.Writer, fs vfs.FS, path string, size int64) error {
	f, err := fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(w, io.LimitReader(f, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// archiveReader reads and checks an archive.
type archiveReader struct {
	in       *bufio.Reader
	sum      hash.Hash
	manifest Manifest
}

// openArchive reads the manifest.
func openArchive(r io.Reader) (*archiveReader, error) {
	a := &archiveReader{in: bufio.NewReaderSize(r, 256<<10), sum: sha256.New()}
	head := make([]byte, len(archiveMagic)+4)
	if err := a.read(head); err != nil {
		return nil, fmt.Errorf("archive: %w", truncated(err))
	}
	if !bytes.Equal(head[:len(archiveMagic)], archiveMagic) {
		return nil, fmt.Errorf("archive: %w: this is no Cairn archive", ErrCorrupt)
	}
	size := binary.BigEndian.Uint32(head[len(archiveMagic):])
	if size > maxManifestBytes {
		return nil, fmt.Errorf("archive: %w: manifest of %d bytes", ErrCorrupt, size)
	}
	raw := make([]byte, size)
	if err := a.read(raw); err != nil {
		return nil, fmt.Errorf("archive manifest: %w", truncated(err))
	}
	if err := json.Unmarshal(raw, &a.manifest); err != nil {
		return nil, fmt.Errorf("archive manifest: %w: %w", ErrCorrupt, err)
	}
	return a, a.manifest.check()
}

func (a *archiveReader) read(p []byte) error {
	_, err := io.ReadFull(a.in, p)
	a.sum.Write(p)
	return err
}

// truncated says of an unexpected end that the data is damaged.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", ErrCorrupt)
	}
	return err
}

// check refuses what could not have been written by writeArchive, above all
// names that lead out of a folder.
func (m Manifest) check() error {
	if m.Format != archiveFormat {
		return fmt.Errorf("archive format %d is not supported, this build reads %d", m.Format, archiveFormat)
	}
	seen := map[string]bool{}
	for _, f := range m.Files {
		if f.Name == "" || f.Name == "." || f.Name == ".." || strings.ContainsAny(f.Name, "/\\\x00") || f.Size < 0 || seen[f.Name] {
			return fmt.Errorf("archive manifest: %w: file %q of %d bytes", ErrCorrupt, f.Name, f.Size)
		}
		seen[f.Name] = true
	}
	return nil
}

// fits refuses a state that a state machine of this format cannot read. Zero
// stands for a format that nobody named.
func (m Manifest) fits(format int) error {
	if format > 0 && m.StateFormat > format {
		return fmt.Errorf("%w: the copy has format %d, this node reads up to %d; upgrade every node first",
			ErrNewerFormat, m.StateFormat, format)
	}
	return nil
}

// each gives every file to write and checks its sum, then the archive's.
func (a *archiveReader) each(write func(f ManifestFile, r io.Reader) error) error {
	for _, f := range a.manifest.Files {
		h := sha256.New()
		r := &countReader{r: io.TeeReader(io.LimitReader(a.in, f.Size), io.MultiWriter(h, a.sum))}
		if err := write(f, r); err != nil {
			return fmt.Errorf("archive file %s: %w", f.Name, err)
		}
		if r.n != f.Size {
			return fmt.Errorf("archive file %s: %w", f.Name, truncated(io.ErrUnexpectedEOF))
		}
		if hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
			return fmt.Errorf("archive file %s: %w: sha256 mismatch", f.Name, ErrCorrupt)
		}
	}
	want := a.sum.Sum(nil)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(a.in, got); err != nil {
		return fmt.Errorf("archive: %w", truncated(err))
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("archive: %w: sha256 mismatch", ErrCorrupt)
	}
	return nil
}

// end refuses an archive that more follows: it is not the file that was written.
func (a *archiveReader) end() error {
	_, err := a.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return fmt.Errorf("archive: %w", err)
	default:
		return fmt.Errorf("archive: %w: something follows its end", ErrCorrupt)
	}
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// extract writes all files into dir, which it creates, and syncs them. On an
// error dir is removed.
func (a *archiveReader) extract(fs vfs.FS, dir string) (err error) {
	if err := makeDir(fs, dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, fs.RemoveAll(dir))
		}
	}()
	var syncs syncs
	err = a.each(func(f ManifestFile, r io.Reader) error {
		out, err := fs.Create(fs.PathJoin(dir, f.Name), vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		if _, err = io.Copy(out, r); err != nil {
			return errors.Join(err, out.Close())
		}
		syncs.start(out)
		return nil
	})
	if err = errors.Join(err, syncs.wait()); err != nil {
		return err
	}
	return syncDir(fs, dir)
}

// syncs brings files to disk while the next ones are written.
type syncs struct {
	running sync.WaitGroup
	mu      sync.Mutex
	errs    []error
}

// start syncs and closes f in the background.
func (s *syncs) start(f vfs.File) {
	s.running.Go(func() {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.errs = append(s.errs, err)
		}
	})
}

// wait returns when every file is on disk, with what went wrong.
func (s *syncs) wait() error {
	s.running.Wait()
	return errors.Join(s.errs...)
}
