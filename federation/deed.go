package federation

import (
	"crypto/sha256"
	"encoding/binary"
)

// Domains of the hashes below; a hash of one never equals one of another.
const (
	lessonDomain = "cairn/lesson/1"
	callDomain   = "cairn/call/1"
	linkDomain   = "cairn/deed/1"
)

// LessonAction is the identity of what a lesson says to do: the SHA-256 of its normalised text. An empty text has none.
func LessonAction(content string) [32]byte {
	text := NormalizeText(content)
	if text == "" {
		return [32]byte{}
	}
	return hashParts(lessonDomain, text)
}

// CallAction is the identity of a tool call: tool and arguments, these in one canonical form. A call without a tool has none.
func CallAction(tool string, args []byte) [32]byte {
	if tool == "" {
		return [32]byte{}
	}
	return hashParts(callDomain, tool, string(args))
}

// Link joins a task, by its group or its normalised text, with an action: two deeds are about the same when they share a
// link. It is zero, which links nothing, when either side is.
func Link(task, action [32]byte) [32]byte {
	if task == ([32]byte{}) || action == ([32]byte{}) {
		return [32]byte{}
	}
	return hashParts(linkDomain, string(task[:]), string(action[:]))
}

// hashParts hashes parts with their lengths, so that no two lists give the same bytes.
func hashParts(parts ...string) [32]byte {
	h := sha256.New()
	for _, p := range parts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write([]byte(p))
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
