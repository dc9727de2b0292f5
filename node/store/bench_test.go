package store

import (
	"fmt"
	"testing"

	"cairn/federation"
)

// BenchmarkOutcome applies outcomes about a shared item that has many citations already.
func BenchmarkOutcome(b *testing.B) {
	for _, citations := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("citations=%d", citations), func(b *testing.B) {
			var names []string
			for i := range 12 {
				names = append(names, fmt.Sprintf("p%02d", i))
			}
			l := fleet(b, names...)
			_, item := l.shelve("author", "one")
			reward := func(i int) federation.Micro { return federation.Micro(i%2) * federation.One }
			for i := range citations {
				l.report(names[i%12]+"-1", reward(i), item)
			}
			var log [][]byte
			for i := range b.N {
				data, err := l.command(KindOutcome, l.outcome(l.recall(names[i%12]+"-1", item), reward(i))).Encode()
				if err != nil {
					b.Fatal(err)
				}
				log = append(log, data)
			}
			at, _ := l.s.Applied()
			b.ResetTimer()
			for i, data := range log {
				if _, err := l.s.Apply(at+uint64(i)+1, 1, []int64{l.now}, [][]byte{data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
