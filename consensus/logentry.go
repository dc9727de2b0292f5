package consensus

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// A stored entry is, in this order:
//
//	byte 0      version of this layout
//	bytes 1-4   crc32c, little endian, of the index (8 bytes, big endian) and
//	            everything after this field
//	byte 5      type
//	uvarint     term
//	varint      time of the append in Unix nanoseconds, 0 when unset
//	uvarint, bytes   data
//	bytes       extensions, to the end
//
// The index is the key; it is part of the checksum so that an entry found
// under another key is corrupt too.
const entryVersion = 1

const entryHeader = 5

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendEntry(dst []byte, e *raft.Log) []byte {
	start := len(dst)
	dst = append(dst, entryVersion, 0, 0, 0, 0, byte(e.Type))
	dst = binary.AppendUvarint(dst, e.Term)
	var nanos int64
	if !e.AppendedAt.IsZero() {
		nanos = e.AppendedAt.UnixNano()
	}
	dst = binary.AppendVarint(dst, nanos)
	dst = binary.AppendUvarint(dst, uint64(len(e.Data)))
	dst = append(dst, e.Data...)
	dst = append(dst, e.Extensions...)
	sum := entrySum(e.Index, dst[start+entryHeader:])
	binary.LittleEndian.PutUint32(dst[start+1:], sum)
	return dst
}

func entrySum(index uint64, body []byte) uint32 {
	var key [8]byte
	binary.BigEndian.PutUint64(key[:], index)
	return crc32.Update(crc32.Checksum(key[:], castagnoli), castagnoli, body)
}

// decodeEntry fills e from a stored value. It copies what it keeps. Errors
// wrap ErrCorrupt and name the index.
func decodeEntry(index uint64, value []byte, e *raft.Log) error {
	if len(value) < entryHeader+1 {
		return fmt.Errorf("log entry %d: %w: %d bytes", index, ErrCorrupt, len(value))
	}
	if value[0] != entryVersion {
		return fmt.Errorf("log entry %d: layout version %d is not supported", index, value[0])
	}
	body := value[entryHeader:]
	if want := binary.LittleEndian.Uint32(value[1:]); entrySum(index, body) != want {
		return fmt.Errorf("log entry %d: %w: checksum mismatch", index, ErrCorrupt)
	}
	typ, rest := body[0], body[1:]
	term, n := binary.Uvarint(rest)
	if n <= 0 {
		return fmt.Errorf("log entry %d: %w: term", index, ErrCorrupt)
	}
	rest = rest[n:]
	nanos, n := binary.Varint(rest)
	if n <= 0 {
		return fmt.Errorf("log entry %d: %w: time", index, ErrCorrupt)
	}
	rest = rest[n:]
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > uint64(len(rest)-n) {
		return fmt.Errorf("log entry %d: %w: length", index, ErrCorrupt)
	}
	rest = append([]byte(nil), rest[n:]...)
	*e = raft.Log{Index: index, Term: term, Type: raft.LogType(typ)}
	if size > 0 {
		e.Data = rest[:size:size]
	}
	if extensions := rest[size:]; len(extensions) > 0 {
		e.Extensions = extensions
	}
	if nanos != 0 {
		e.AppendedAt = time.Unix(0, nanos)
	}
	return nil
}
