package store

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"cairn/federation"
)

func TestSumsAreReadAsTheyAreWritten(t *testing.T) {
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-70_000, 70_000), rapid.SampledFrom([]int64{0, 23, 24, 255, 256, math.MaxInt64, math.MinInt64}))
	rapid.Check(t, func(t *rapid.T) {
		acc := federation.Accumulator{
			W: number.Draw(t, "w"), S: number.Draw(t, "s"), V: number.Draw(t, "v"), Citations: number.Draw(t, "citations"),
		}
		rater := federation.Rater{LW: number.Draw(t, "lw"), LS: number.Draw(t, "ls")}
		for _, v := range []any{acc, rater} {
			data, err := encodeValue(v)
			if err != nil {
				t.Fatal(err)
			}
			var gotAcc federation.Accumulator
			var gotRater federation.Rater
			if v == any(acc) {
				if !decodeSums(data[1:], &gotAcc) || gotAcc != acc {
					t.Fatalf("%+v is read as %+v", acc, gotAcc)
				}
			} else if !decodeSums(data[1:], &gotRater) || gotRater != rater {
				t.Fatalf("%+v is read as %+v", rater, gotRater)
			}
		}
	})
}

func FuzzSums(f *testing.F) {
	f.Add([]byte{0xa2, 1, 0x18, 30, 2, 0x20})
	f.Add([]byte{0xa1, 4, 0x1b, 0xff, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0xa2, 1, 0x38, 0x30, 1, 0x30})
	f.Fuzz(func(t *testing.T, data []byte) {
		var fast, slow federation.Accumulator
		if decodeSums(data, &fast) && (unmarshal(data, &slow) != nil || fast != slow) {
			t.Errorf("%x is read as %+v, want %+v", data, fast, slow)
		}
	})
}
