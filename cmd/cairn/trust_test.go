package main

import (
	"testing"

	"cairn/node/api"
)

func TestTrustOfAReader(t *testing.T) {
	e := &echo{v: api.List[api.LedgerEntry]{Items: []api.LedgerEntry{{Reader: "bob", Author: "ann", Agreed: 3, Contradicted: 1, Proof: "proven"}}}}
	got := cairn(t, e, "", "trust", "--reader", "bob")
	if got.code != exitOK {
		t.Fatalf("code %d: %s", got.code, got.stderr)
	}
	if want := "/v1/ledger?limit=50&reader=bob"; e.path != want {
		t.Errorf("path %s, want %s", e.path, want)
	}
	missing(t, "stdout", got.stdout, "AUTHOR", "ann", "3", "1", "proven")
	for _, args := range [][]string{{"trust"}, {"trust", "e1", "--reader", "bob"}} {
		if got := cairn(t, e, "", args...); got.code != exitUsage {
			t.Errorf("%v: code %d, want %d", args, got.code, exitUsage)
		}
	}
}
