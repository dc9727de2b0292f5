package embed

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

var errCharsmap = errors.New("precompiled charsmap is damaged")

// charsmap is SentencePiece's precompiled normaliser: a double-array trie of byte sequences and their replacements.
type charsmap struct {
	units        []uint32
	replacements string // NUL-ended
}

// newCharsmap reads u32 size, size/4 units, replacements; all little endian.
func newCharsmap(b []byte) (charsmap, error) {
	if len(b) < 8 {
		return charsmap{}, errCharsmap
	}
	size := int64(binary.LittleEndian.Uint32(b))
	if size < 4 || size%4 != 0 || size > int64(len(b)-4) {
		return charsmap{}, errCharsmap
	}
	m := charsmap{units: make([]uint32, size/4), replacements: string(b[4+size:])}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(b[4+4*i:])
	}
	return m, nil
}

// apply replaces at each place the longest key by its replacement and copies one rune where there is none.
func (m charsmap) apply(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for text != "" {
		n, at := m.longest(text)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text)
			b.WriteString(text[:n])
		} else {
			b.WriteString(m.replacement(at))
		}
		text = text[n:]
	}
	return b.String()
}

// longest returns the length of the longest key that begins text and the offset of its replacement.
func (m charsmap) longest(text string) (n, at int) {
	unit := m.units[0]
	pos := childOffset(unit)
	for i := range len(text) {
		c := uint32(text[i])
		pos ^= c
		if pos >= uint32(len(m.units)) {
			break
		}
		unit = m.units[pos]
		if unit&0x800000FF != c {
			break
		}
		pos ^= childOffset(unit)
		if unit&0x100 != 0 {
			if pos >= uint32(len(m.units)) {
				break
			}
			n, at = i+1, int(m.units[pos]&0x7FFFFFFF)
		}
	}
	return n, at
}

func childOffset(unit uint32) uint32 { return unit >> 10 << (unit & 0x200 >> 6) }

func (m charsmap) replacement(at int) string {
	if at >= len(m.replacements) {
		return ""
	}
	s, _, _ := strings.Cut(m.replacements[at:], "\x00")
	return s
}
