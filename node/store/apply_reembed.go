package store

// Reembed queues experiences to get vectors of the encoder that the nodes have now. Those that are gone are skipped.
type Reembed struct {
	Targets []Target `cbor:"1,keyasint"`
}

// Requeued says how many experiences will be embedded.
type Requeued struct {
	Count int `cbor:"1,keyasint"`
}

const maxReembed = 500

func applyReembed(t *txn, b *Reembed) (any, *Reject) {
	if len(b.Targets) > maxReembed {
		return nil, reject("invalid", "too many experiences in one command")
	}
	var out Requeued
	for _, x := range b.Targets {
		if e, ok := t.experience(x.Owner, x.ID); ok && e.Live() {
			t.enqueue(JobEmbed, e.ID, e.Owner, t.now, "")
			out.Count++
		}
	}
	return out, nil
}
