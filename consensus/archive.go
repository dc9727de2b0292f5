package consensus

import (
	"bufio"
	"bytes"
	"cmp"
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
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An archive carries a copy of the state, to a follower or into a backup:
//
//	archiveMagic
//	length of the manifest (4 bytes, big endian), the manifest as JSON
//	for every file of the manifest: its bytes, and its sha256 (32 bytes) unless the manifest has it
//	sha256 of everything before the first file (32 bytes)
//
// Every file has a size and a sum, so a damaged archive is told from a good one,
// and which file is damaged. A backup has the sums in front, where people look
// for them. On the way to a follower they come behind, so that a file is read
// once. Format 1 had them always in front, and the last sum was of all bytes.
var archiveMagic = []byte("CAIRNARC")

// archiveFormat is the version that this code writes and the newest it reads.
const archiveFormat = 2

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
	// Restored are the tickets of backups that the state was replaced by: who
	// gets this copy need not wait for their entries. Not in backups.
	Restored []string `json:"restored,omitempty"`
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

// listDir lists the files of dir with their sizes, sorted by name.
func listDir(fs vfs.FS, dir string) ([]ManifestFile, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	files := make([]ManifestFile, 0, len(names))
	for _, name := range names {
		info, err := fs.Stat(fs.PathJoin(dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, ManifestFile{Name: name, Size: info.Size()})
	}
	return files, nil
}

// addSums fills in the checksums of files, which are in dir.
func addSums(fs vfs.FS, dir string, files []ManifestFile) error {
	for i, f := range files {
		sum, err := copyFile(io.Discard, fs, fs.PathJoin(dir, f.Name), f.Size)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		files[i].SHA256 = hex.EncodeToString(sum)
	}
	return nil
}

// writeArchive writes the files that m names from dir to w. Sums that m lacks
// follow their files.
func writeArchive(w io.Writer, fs vfs.FS, dir string, m Manifest) error {
	m.Format = archiveFormat // it may have come in an older one
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	head := slices.Concat(archiveMagic, binary.BigEndian.AppendUint32(nil, uint32(len(raw))), raw)
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, f := range m.Files {
		sum, err := copyFile(w, fs, fs.PathJoin(dir, f.Name), f.Size)
		switch {
		case err != nil:
		case f.SHA256 == "":
			_, err = w.Write(sum)
		case f.SHA256 != hex.EncodeToString(sum):
			err = fmt.Errorf("%w: sha256 mismatch", ErrCorrupt)
		}
		if err != nil {
			return fmt.Errorf("archive %s: %w", f.Name, err)
		}
	}
	sum := sha256.Sum256(head)
	_, err = w.Write(sum[:])
	return err
}

// copyFile writes the first size bytes of a file to w and returns their sum.
func copyFile(w io.Writer, fs vfs.FS, path string, size int64) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return copySum(w, f, size, sha256.New())
}

// archiveReader reads and checks an archive.
type archiveReader struct {
	in       *bufio.Reader
	sum      hash.Hash // of the bytes that the archive's last sum covers
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
	if m.Format < 1 || m.Format > archiveFormat {
		return fmt.Errorf("archive format %d is not supported, this build reads 1 to %d", m.Format, archiveFormat)
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

// each goes through the files and checks their sums, then the archive's. file
// has to call copy once, with the writer that gets the file's bytes. Sums that
// the manifest lacked are in it afterwards.
func (a *archiveReader) each(file func(f ManifestFile, copy func(io.Writer) error) error) error {
	for i := range a.manifest.Files {
		f := &a.manifest.Files[i]
		err := file(*f, func(w io.Writer) error { return a.copy(w, f) })
		if err != nil {
			return fmt.Errorf("archive file %s: %w", f.Name, err)
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

// copy writes the file's bytes to w and checks their sum.
func (a *archiveReader) copy(w io.Writer, f *ManifestFile) error {
	sums := []hash.Hash{sha256.New()}
	if a.manifest.Format == 1 {
		sums = append(sums, a.sum)
	}
	sum, err := copySum(w, a.in, f.Size, sums...)
	if err != nil {
		return truncated(err)
	}
	want := make([]byte, len(sum))
	if f.SHA256 == "" && a.manifest.Format > 1 {
		if _, err := io.ReadFull(a.in, want); err != nil {
			return truncated(err)
		}
		f.SHA256 = hex.EncodeToString(want)
	}
	if hex.EncodeToString(sum) != f.SHA256 {
		return fmt.Errorf("%w: sha256 mismatch", ErrCorrupt)
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

// Sums are made of chunks of this size, beside reading and writing.
const (
	sumChunk  = 256 << 10
	sumChunks = 4
)

// copySum copies size bytes from r to w and adds them to sums. A sum takes as
// long as a copy, so one chunk is read while the one before is summed and the
// one before that is written. It returns the first of sums, or
// io.ErrUnexpectedEOF when r ends too early.
func copySum(w io.Writer, r io.Reader, size int64, sums ...hash.Hash) ([]byte, error) {
	free, read, summed := make(chan []byte, sumChunks), make(chan []byte, sumChunks), make(chan []byte, sumChunks)
	for range min(sumChunks, (size+sumChunk-1)/sumChunk) {
		free <- make([]byte, min(size, sumChunk))
	}
	var running sync.WaitGroup
	var failed atomic.Bool
	var readErr, writeErr error
	running.Go(func() {
		defer close(read)
		for left := size; left > 0 && !failed.Load(); {
			chunk := <-free
			n, err := io.ReadFull(r, chunk[:min(left, int64(len(chunk)))])
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				readErr = err
				return
			}
			left -= int64(n)
			read <- chunk[:n]
		}
	})
	running.Go(func() {
		defer close(summed)
		for chunk := range read {
			for _, s := range sums {
				s.Write(chunk)
			}
			summed <- chunk
		}
	})
	for chunk := range summed {
		if writeErr == nil {
			_, writeErr = w.Write(chunk)
			failed.Store(writeErr != nil)
		}
		free <- chunk[:cap(chunk)]
	}
	running.Wait()
	return sums[0].Sum(nil), cmp.Or(writeErr, readErr)
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
	err = a.each(func(f ManifestFile, copy func(io.Writer) error) error {
		out, err := fs.Create(fs.PathJoin(dir, f.Name), vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		if err := copy(out); err != nil {
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
