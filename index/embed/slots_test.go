package embed

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestSlotsPreferQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{total: 2, bulk: 1}
		ctx := context.Background()
		if err := s.acquire(ctx, true); err != nil {
			t.Fatal(err)
		}
		var order []string
		wait := func(name string, bulk bool) {
			go func() {
				if s.acquire(ctx, bulk) == nil {
					order = append(order, name)
				}
			}()
			synctest.Wait()
		}
		wait("bulk", true) // the second bulk text waits although a slot is free
		wait("query", false)
		wait("query 2", false) // all slots are taken
		if len(order) != 1 || order[0] != "query" {
			t.Fatalf("running: %v, want the first query", order)
		}
		s.release(true)
		synctest.Wait()
		if len(order) != 2 || order[1] != "query 2" {
			t.Fatalf("running: %v, want the second query before bulk", order)
		}
		s.release(false)
		synctest.Wait()
		if len(order) != 3 || order[2] != "bulk" {
			t.Fatalf("running: %v, want bulk at last", order)
		}
		s.release(false)
		s.release(true)
		if s.used != 0 || s.usedBulk != 0 {
			t.Errorf("slots left taken: %d, %d", s.used, s.usedBulk)
		}
	})
}

func TestSlotsAbandon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slots{total: 1, bulk: 1}
		if err := s.acquire(context.Background(), false); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var got error
		go func() { got = s.acquire(ctx, true) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(got, context.Canceled) || len(s.jobs) != 0 {
			t.Errorf("got %v, %d waiting", got, len(s.jobs))
		}
		s.release(false)
		if err := s.acquire(context.Background(), true); err != nil {
			t.Errorf("slot was lost: %v", err)
		}
	})
}
