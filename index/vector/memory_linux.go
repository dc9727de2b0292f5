package vector

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugePage = 2 << 20

// mapping is memory of the system.
type mapping struct {
	at   unsafe.Pointer
	size uintptr
}

func (m mapping) bytes() []byte { return unsafe.Slice((*byte)(m.at), m.size) }

// giveBack returns a mapping. There is nothing to be done about an error.
func giveBack(m mapping) { _ = unix.MunmapPtr(m.at, m.size) }

// systemMemory returns size bytes from the system, aligned to huge pages, and the mapping that holds them.
func systemMemory(size int) ([]byte, mapping, bool) {
	m := mapping{size: uintptr(size + hugePage)}
	var err error
	if m.at, err = unix.MmapPtr(-1, 0, nil, m.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return nil, mapping{}, false
	}
	skip := int(-uintptr(m.at) & (hugePage - 1))
	b := m.bytes()[skip : skip+size]
	// Without huge pages the memory is slower, and as good.
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	return b, m, true
}

// own ties a mapping to the life of a space.
func (s *Space) own(m mapping) { runtime.AddCleanup(s, giveBack, m) }

// own ties a mapping to the life of a graph.
func (g *graph) own(m mapping) { runtime.AddCleanup(g, giveBack, m) }

// moreSpill returns size more bytes of the space's file.
func (s *Space) moreSpill(size int) ([]byte, bool) {
	if s.spill.file == nil && !s.openSpill() {
		return nil, false
	}
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	fd := int(s.spill.file.Fd())
	// The blocks are taken now: a write to a page that a full disk cannot hold would end the process.
	if err := unix.Fallocate(fd, 0, s.spill.size, int64(size)); err != nil {
		return nil, false
	}
	at, err := unix.MmapPtr(fd, s.spill.size, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, false
	}
	s.spill.size += int64(size)
	m := mapping{at, uintptr(size)}
	s.own(m)
	return m.bytes(), true
}

func (s *Space) openSpill() bool {
	f, err := os.CreateTemp(s.folder, ".vectors-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err != nil {
		if f != nil {
			_ = f.Close()
		}
		s.folder = ""
		return false
	}
	s.spill.file = f
	runtime.AddCleanup(s, func(f *os.File) { _ = f.Close() }, f)
	return true
}
