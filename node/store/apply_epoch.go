package store

// BumpEpoch begins a new epoch: the state was replaced by a backup, so what readers of the old one hold no longer leads on.
// Above is the epoch of the site as it was; the new one is above it and above the backup's own.
type BumpEpoch struct {
	Above uint64 `cbor:"1,keyasint"`
}

// Bumped is the epoch that began.
type Bumped struct {
	Site  string `cbor:"1,keyasint"`
	Epoch uint64 `cbor:"2,keyasint"`
}

func applyBumpEpoch(t *txn, b *BumpEpoch) (any, *Reject) {
	var site Site
	if !t.get(siteKey(), &site) {
		return nil, reject("unavailable", "the site is not bootstrapped")
	}
	site.Epoch = max(site.Epoch, b.Above) + 1
	t.put(siteKey(), site)
	return Bumped{Site: site.ID, Epoch: site.Epoch}, nil
}

// Fill changes nothing but the index. A site whose log is shorter than a backup's fills it up before it restores: the
// indexes in the backup (feed, changes, receipts) must stay behind those that follow.
type Fill struct{}

func applyFill(*txn, *Fill) (any, *Reject) { return Fill{}, nil }
