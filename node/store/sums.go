package store

import (
	"encoding/binary"

	"cairn/federation"
)

// decodeSums reads the records of which a citation reads two for every juror without reflection. It reports whether v is such
// a record and data is a map from small numbers to integers as marshal writes it; anything else is left to unmarshal.
func decodeSums(data []byte, v any) bool {
	var sums [4]int64
	switch v := v.(type) {
	case *federation.Accumulator:
		if !readSums(data, &sums) {
			return false
		}
		*v = federation.Accumulator{W: sums[0], S: sums[1], V: sums[2], Citations: sums[3]}
	case *federation.Rater:
		if !readSums(data, &sums) || sums[2] != 0 || sums[3] != 0 {
			return false
		}
		*v = federation.Rater{LW: sums[0], LS: sums[1]}
	default:
		return false
	}
	return true
}

// readSums reads a CBOR map (RFC 8949 section 3) with keys 1 to 4 in order and integers; keys that are left out are 0.
func readSums(data []byte, sums *[4]int64) bool {
	const emptyMap, small = 0xa0, 24
	if len(data) == 0 || data[0] < emptyMap || data[0] > emptyMap+byte(len(sums)) {
		return false
	}
	pairs, last := data[0]-emptyMap, byte(0)
	for data = data[1:]; pairs > 0; pairs-- {
		if len(data) < 2 || data[0] <= last || int(data[0]) > len(sums) {
			return false
		}
		last = data[0]
		at, negative := data[0]-1, data[1]>>5 == 1
		if data[1]>>5 > 1 {
			return false
		}
		n, size := uint64(data[1]&0x1f), 0
		switch n {
		case small, small + 1, small + 2, small + 3:
			size = 1 << (n - small)
		default:
			if n > small {
				return false
			}
		}
		if data = data[2:]; len(data) < size {
			return false
		}
		switch size {
		case 1:
			n = uint64(data[0])
		case 2:
			n = uint64(binary.BigEndian.Uint16(data))
		case 4:
			n = uint64(binary.BigEndian.Uint32(data))
		case 8:
			n = binary.BigEndian.Uint64(data)
		}
		if data = data[size:]; n > 1<<63-1 {
			return false
		}
		if sums[at] = int64(n); negative {
			sums[at] = -1 - int64(n)
		}
	}
	return len(data) == 0
}
