package node

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fxamacker/cbor/v2"

	"cairn/node/api"
	"cairn/node/store"
)

const (
	receiptPrefix  = "rcp_"
	receiptFormat  = 1
	macBytes       = 16
	maxReceipt     = 4096 // characters of a token; 50 items need about 1,900
	batchEvery     = 50 * time.Millisecond
	batchMax       = 256 // receipts that end the wait for more
	batchItems     = 300 // items of one command, so that it stays near 1,000 keys
	batchTimeout   = 10 * time.Second
	shownKeptAfter = 5 * time.Second
)

// token is the signed part of a receipt, as an array: it names what was given, so that an outcome can be reported even if
// the stored row was lost in a crash.
type token struct {
	_         struct{} `cbor:",toarray"`
	Format    int
	Recall    []byte
	Namespace string
	Agent     string
	TaskType  string
	At        int64
	Items     []tokenItem
}

type tokenItem struct {
	_       struct{} `cbor:",toarray"`
	ID      []byte
	Version int
	Flags   int
}

var tokenMode = sync.OnceValue(func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // constant options
	}
	return mode
})

func mac(siteKey [32]byte, data []byte) []byte {
	h := hmac.New(sha256.New, siteKey[:])
	h.Write([]byte("cairn.receipt.v1\x00"))
	h.Write(data)
	return h.Sum(nil)[:macBytes]
}

// sealReceipt signs a receipt with the site's key.
func sealReceipt(site *store.Site, namespace string, r *store.Receipt) (string, error) {
	t := token{
		Format: receiptFormat, Recall: r.Recall[:], Namespace: namespace, Agent: r.Agent, TaskType: r.TaskType, At: r.At,
		Items: []tokenItem{},
	}
	for _, item := range r.Items {
		t.Items = append(t.Items, tokenItem{ID: item.ID.Bytes(), Version: item.Version, Flags: item.Flags})
	}
	data, err := tokenMode().Marshal(t)
	if err != nil {
		return "", fmt.Errorf("seal receipt: %w", err)
	}
	return receiptPrefix + base64.RawURLEncoding.EncodeToString(append(data, mac(site.Key, data)...)), nil
}

// openReceipt checks a receipt's signature and that it is the caller's. Anything else does not exist.
func (n *Node) openReceipt(v *store.View, ns *store.Namespace, c api.Caller, s string) (*store.Receipt, error) {
	notFound := api.NotFound("receipt")
	site, err := v.Site()
	if err != nil || site == nil {
		return nil, orDefault(err, notFound)
	}
	raw, ok := strings.CutPrefix(s, receiptPrefix)
	data, derr := base64.RawURLEncoding.DecodeString(raw)
	if !ok || derr != nil || len(s) > maxReceipt || len(data) <= macBytes {
		return nil, notFound
	}
	body, sum := data[:len(data)-macBytes], data[len(data)-macBytes:]
	if !hmac.Equal(sum, mac(site.Key, body)) {
		return nil, notFound
	}
	var t token
	if err := cbor.Unmarshal(body, &t); err != nil || t.Format != receiptFormat || t.Namespace != ns.ID || t.Agent != c.Agent {
		return nil, notFound
	}
	r := &store.Receipt{Agent: t.Agent, TaskType: t.TaskType, At: t.At}
	copy(r.Recall[:], t.Recall)
	for _, item := range t.Items {
		out := store.ReceiptItem{Version: item.Version, Flags: item.Flags}
		copy(out.ID[:], item.ID)
		r.Items = append(r.Items, out)
	}
	return r, nil
}

// shownKey is one candidate shown to one juror in one task group.
type shownKey struct {
	ns        uint32
	candidate store.ID
	group     [32]byte
	juror     string
}

// batcher commits the receipts of recalls together: every 50 ms or 256 of them. Until they are committed it remembers
// which candidates were shown.
type batcher struct {
	n    *Node
	wake chan struct{}

	mu      sync.Mutex // guards pending, count, shown
	pending map[string][]store.Receipt
	count   int
	shown   map[shownKey]time.Time
}

func newBatcher(n *Node) *batcher {
	return &batcher{n: n, wake: make(chan struct{}, 1), pending: map[string][]store.Receipt{}, shown: map[shownKey]time.Time{}}
}

// add queues a receipt. It never blocks.
func (b *batcher) add(namespace string, r store.Receipt, shown []shownKey) {
	b.mu.Lock()
	b.pending[namespace] = append(b.pending[namespace], r)
	b.count++
	full := b.count >= batchMax
	for _, k := range shown {
		b.shown[k] = time.Now()
	}
	b.mu.Unlock()
	if full {
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
}

// recently reports whether a candidate was shown by a recall whose receipt may not be committed yet.
func (b *batcher) recently(k shownKey) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.shown[k]
	return ok
}

func (b *batcher) loop(ctx context.Context) {
	timer := time.NewTicker(batchEvery)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-b.wake:
		case <-ctx.Done():
			final, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
			defer cancel()
			b.flush(final)
			return
		}
		b.flush(ctx)
	}
}

func (b *batcher) take() map[string][]store.Receipt {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, at := range b.shown {
		if time.Since(at) > shownKeptAfter {
			delete(b.shown, k)
		}
	}
	if b.count == 0 {
		return nil
	}
	out := b.pending
	b.pending, b.count = map[string][]store.Receipt{}, 0
	return out
}

// flush commits what is pending. What fails is kept for the next turn, up to a bound: receipts are self-contained, and an
// outcome brings its own.
func (b *batcher) flush(ctx context.Context) {
	for ns, list := range b.take() {
		for len(list) > 0 {
			part := list[:fitting(list)]
			_, err := b.n.propose(ctx, api.Caller{}, api.Write{}, store.KindReceipts, ns, store.Receipts{Receipts: part})
			if err != nil {
				b.n.log.WarnContext(ctx, "commit receipts", "count", len(list), "error", err)
				b.putBack(ns, list)
				break
			}
			list = list[len(part):]
		}
	}
}

// fitting is how many receipts go into one command: at least one.
func fitting(list []store.Receipt) int {
	items := 0
	for i := range list {
		items += len(list[i].Items)
		if i > 0 && items > batchItems || i == batchMax {
			return i
		}
	}
	return len(list)
}

func (b *batcher) putBack(ns string, list []store.Receipt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const keep = 16 * batchMax
	if room := keep - b.count; len(list) > room {
		b.n.metrics.receiptsLost.Add(float64(len(list) - max(room, 0)))
		list = list[:max(room, 0)]
	}
	b.pending[ns] = append(list, b.pending[ns]...)
	b.count += len(list)
}
