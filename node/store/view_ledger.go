package store

import (
	"bytes"

	"cairn/federation"
)

// Ledger reads what a reader's outcomes say about an author; zero when nothing.
func (v *View) Ledger(ns *Namespace, author, reader string) (federation.Ledger, error) {
	var l federation.Ledger
	_, err := v.get(ledgerKey(ns.Number, author, reader), &l)
	return l, err
}

// Ledgers visits all rows by author, then reader, after a suffix.
func (v *View) Ledgers(ns *Namespace, after []byte, fn func(suffix []byte, r *LedgerRow) bool) error {
	return list(v, nsKey(kindLedger, ns.Number), after, func(suffix []byte, l *federation.Ledger) bool {
		author, reader, _ := bytes.Cut(suffix, []byte{0})
		return fn(suffix, &LedgerRow{Author: string(author), Reader: string(reader), Ledger: *l})
	})
}
