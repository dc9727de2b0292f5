package recall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"cairn/index/embed"

	"pgregory.net/rapid"
)

// hotIDs are those of ids that are hot.
func hotIDs(h *Hot[int], pool int, token any, ids ...string) (out []string) {
	for _, id := range ids {
		if _, _, hot := h.Get(pool, id, token); hot {
			out = append(out, id)
		}
	}
	return out
}

func TestHot(t *testing.T) {
	var h Hot[int]
	h.Note(1, 20, "never", 0, "v1")
	if got := hotIDs(&h, 1, "v1", "never"); got != nil {
		t.Errorf("never recalled, hot all the same: %v", got)
	}
	for i, id := range []string{"a", "b", "c", "d"} {
		h.Note(1, 20, id, int64(i+1), "v1")
	}
	h.Note(2, 20, "a", 1, "v1")
	if got := hotIDs(&h, 1, "v1", "a", "b", "c", "d"); !slices.Equal(got, []string{"c", "d"}) {
		t.Errorf("two of twenty are hot: %v", got)
	}
	if got := hotIDs(&h, 2, "v1", "a", "c"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("pools are apart: %v", got)
	}
	h.Keep(1, "d", "v1", []embed.Vector{direction(0)})
	h.Keep(1, "a", "v1", []embed.Vector{direction(0)}) // is not hot
	if hot, kept := h.Len(); hot != 3 || kept != 1 {
		t.Errorf("%d hot, %d kept; want 3 and 1", hot, kept)
	}
	if v, kept, _ := h.Get(1, "d", "v1"); !kept || len(v) != 1 {
		t.Errorf("kept %v %v", v, kept)
	}
	if _, _, hot := h.Get(1, "d", "v2"); hot {
		t.Error("found under another token")
	}
	h.Note(1, 20, "d", 9, "v2")
	if _, kept, hot := h.Get(1, "d", "v2"); kept || !hot {
		t.Errorf("after a change: kept %v, hot %v", kept, hot)
	}
	h.Keep(1, "d", "v1", []embed.Vector{direction(0)}) // came too late
	if _, kept, _ := h.Get(1, "d", "v2"); kept {
		t.Error("vectors of an old version are kept")
	}
	h.Note(1, 20, "c", 1, "v1") // a recall was taken back
	if got := hotIDs(&h, 1, "v1", "a", "b", "c"); !slices.Equal(got, []string{"b"}) {
		t.Errorf("after c cooled: %v", got)
	}
	h.Forget(1, 19, "b")
	if got := hotIDs(&h, 1, "v1", "a", "b", "c"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("after b went: %v, want a, the first of equals", got)
	}
	h.Clear()
	if hot, _ := h.Len(); hot != 0 {
		t.Errorf("%d hot after all was dropped", hot)
	}
}

// TestHotIsTheMostRecalledTenth compares with sorting, whatever was noted and forgotten in whatever order.
func TestHotIsTheMostRecalledTenth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Hot[int]
		recalled := map[string]int64{}
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			id := fmt.Sprintf("e%02d", rapid.IntRange(0, 40).Draw(t, "id"))
			if rapid.IntRange(0, 5).Draw(t, "forget") == 0 {
				delete(recalled, id)
				h.Forget(0, len(recalled), id)
				continue
			}
			recalled[id] = int64(rapid.IntRange(0, 6).Draw(t, "recalled"))
			h.Note(0, len(recalled), id, recalled[id], "t")
			h.Keep(0, id, "t", nil)
		}
		ids := slices.Sorted(maps.Keys(recalled))
		got := hotIDs(&h, 0, "t", ids...)
		slices.SortStableFunc(ids, func(a, b string) int { return cmp.Compare(recalled[b], recalled[a]) })
		want := slices.DeleteFunc(ids[:(len(ids)+hotShare-1)/hotShare], func(id string) bool { return recalled[id] == 0 })
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("hot %v, want %v of %v", got, want, recalled)
		}
		if hot, kept := h.Len(); hot != len(want) || kept > hot {
			t.Fatalf("%d hot, %d kept, want %d", hot, kept, len(want))
		}
	})
}

func TestHotIsBounded(t *testing.T) {
	var h Hot[int]
	for i := range maxHot + 5 {
		h.Note(0, 20*maxHot, fmt.Sprint(i), 1, nil)
	}
	if hot, _ := h.Len(); hot != maxHot {
		t.Errorf("%d hot, want %d", hot, maxHot)
	}
}

func TestHotInParallel(t *testing.T) {
	var h Hot[int]
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 500 {
				id := fmt.Sprint(i % 50)
				h.Note(i%3, 50, id, int64(i+w), "t")
				h.Keep(i%3, id, "t", []embed.Vector{direction(1)})
				h.Get(i%3, id, "t")
				if i%7 == 0 {
					h.Forget(i%3, 49, id)
				}
				if i%100 == 99 {
					h.Clear()
				}
			}
		})
	}
	all.Wait()
	if hot, kept := h.Len(); kept > hot {
		t.Errorf("%d kept of %d", kept, hot)
	}
}

func BenchmarkHotNote(b *testing.B) {
	var h Hot[int]
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("%026d", i)
		h.Note(0, len(ids), ids[i], int64(i%100+1), nil)
	}
	for i := 0; b.Loop(); i++ {
		h.Note(0, len(ids), ids[i%len(ids)], int64(i%1000+1), nil)
	}
}
