package store

import (
	"bytes"
	"math"
	"testing"
)

// nearestHalf rounds by search over all halves, the slow way.
func nearestHalf(f float32) uint16 {
	if math.IsNaN(float64(f)) {
		return 0x7e00
	}
	sign := uint16(0)
	if math.Signbit(float64(f)) {
		sign = 0x8000
	}
	x := math.Abs(float64(f))
	low, high := uint16(0), uint16(0x7c00)
	for high-low > 1 {
		if mid := (low + high) / 2; halfValue(mid) <= x {
			low = mid
		} else {
			high = mid
		}
	}
	above, below := halfValue(high)-x, x-halfValue(low)
	if x >= halfValue(high) || above < below || above == below && low&1 == 1 {
		return sign | high
	}
	return sign | low
}

// halfValue is a finite half's value; infinity stands for the next power of two, as rounding to it does.
func halfValue(h uint16) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	if exp == 0 {
		return math.Ldexp(frac, -24)
	}
	return math.Ldexp(1024+frac, exp-25)
}

func FuzzHalf(f *testing.F) {
	for _, v := range []float32{0, 1, -1, 65504, 65519.99, 65520, 6e-8, 2.9802322e-8, 2.98e-8, 6.097555e-5, 6.1035156e-5, 1e-40, 0.333, float32(math.Inf(-1))} {
		f.Add(math.Float32bits(v))
	}
	f.Fuzz(func(t *testing.T, bits uint32) {
		v := math.Float32frombits(bits)
		got, want := toHalf(v), nearestHalf(v)
		if v != v {
			got &= 0x7fff
		}
		if got != want {
			t.Errorf("%g (%x) packs to %04x, want %04x", v, bits, got, want)
		}
	})
}

func TestEveryHalfComesBack(t *testing.T) {
	for i := range 1 << 16 {
		h := uint16(i)
		v := fromHalf(h)
		if v != v {
			if h&0x7c00 != 0x7c00 || h&0x3ff == 0 {
				t.Fatalf("%04x unpacks to NaN", h)
			}
			continue
		}
		if back := toHalf(v); back != h {
			t.Fatalf("%04x unpacks to %g and packs to %04x", h, v, back)
		}
	}
}

func TestVectorError(t *testing.T) {
	values := []float32{0.6, -0.8, 0.001, 0}
	got := PackVector("e", values).Values()
	for i, v := range values {
		if diff := math.Abs(float64(got[i] - v)); diff > math.Abs(float64(v))/2048 {
			t.Errorf("value %d is %g, want %g", i, got[i], v)
		}
	}
}

func TestDecodeValueRefusesWhatItDoesNotKnow(t *testing.T) {
	var p Principal
	for name, data := range map[string][]byte{"empty": {}, "newer": {FormatVersion + 1, 0xa0}, "garbage": {FormatVersion, 0xff}} {
		if err := decodeValue(data, &p); err == nil {
			t.Errorf("%s was decoded", name)
		}
	}
}

// FuzzUpper: upper is the least key above all keys with the prefix.
func FuzzUpper(f *testing.F) {
	f.Add([]byte{1}, []byte{2})
	f.Add([]byte{1, 0xff}, []byte{1, 0xff, 0xff, 3})
	f.Add([]byte{0xff, 0xff}, []byte{0xff, 0xff, 0})
	f.Fuzz(func(t *testing.T, prefix, k []byte) {
		if len(prefix) == 0 {
			return
		}
		end := upper(prefix)
		inside := bytes.Compare(k, prefix) >= 0 && (end == nil || bytes.Compare(k, end) < 0)
		if inside != bytes.HasPrefix(k, prefix) {
			t.Errorf("key %x in the range of %x: %v, has the prefix: %v", k, prefix, inside, !inside)
		}
	})
}

// FuzzKeyParts: names that end in a zero byte cannot reach into the part that follows.
func FuzzKeyParts(f *testing.F) {
	f.Add("a", "bc", "ab", "c")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		if !validName(a) || !validName(c) || a == c && b == d {
			return
		}
		if bytes.Equal(idemKey(1, a, b), idemKey(1, c, d)) {
			t.Errorf("%q, %q and %q, %q have one key", a, b, c, d)
		}
		if parts := splitWords(keyBuf{}.word(a).str(b), 1); len(parts) != 2 || parts[0] != a || parts[1] != b {
			t.Errorf("%q, %q come apart as %q", a, b, parts)
		}
	})
}
