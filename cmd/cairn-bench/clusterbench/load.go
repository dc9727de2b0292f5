package clusterbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// LoadOptions are what a load process is started with.
type LoadOptions struct {
	Addr    string
	Op      string // put, get, or fill: every key once
	Clients int
	Seconds float64
	Size    int // bytes of a value
	Keys    int
}

// loaded is what a load process prints.
type loaded struct {
	Ops     int64   `json:"ops"`
	Seconds float64 `json:"seconds"`
}

func keyName(i int) string { return fmt.Sprintf("key-%06d", i) }

// randomValue does not compress.
func randomValue(size int) []byte {
	v := make([]byte, size)
	for i := range v {
		v[i] = byte(rand.Uint32())
	}
	return v
}

// Load runs closed-loop clients that share one connection and prints what they did as JSON. The first error ends it.
func Load(ctx context.Context, o LoadOptions, out io.Writer) error {
	c, err := dial(ctx, o.Addr)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	defer c.close()
	if _, err := c.call(ctx, opGet, []byte(keyName(0))); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	l := loader{options: o, client: c, end: time.Now().Add(time.Duration(o.Seconds * float64(time.Second)))}
	start := time.Now()
	var wg sync.WaitGroup
	for range o.Clients {
		wg.Go(func() { l.loop(ctx) })
	}
	wg.Wait()
	if err := l.failed.Load(); err != nil {
		return fmt.Errorf("load: %w", *err)
	}
	return json.NewEncoder(out).Encode(loaded{Ops: l.ops.Load(), Seconds: time.Since(start).Seconds()})
}

type loader struct {
	options LoadOptions
	client  *client
	end     time.Time
	ops     atomic.Int64
	next    atomic.Int64
	failed  atomic.Pointer[error]
}

func (l *loader) loop(ctx context.Context) {
	value := randomValue(l.options.Size)
	for l.failed.Load() == nil {
		i := rand.IntN(l.options.Keys)
		if l.options.Op == "fill" {
			if i = int(l.next.Add(1)) - 1; i >= l.options.Keys {
				return
			}
		} else if !time.Now().Before(l.end) {
			return
		}
		op, body := opPut, []byte(nil)
		if l.options.Op == "get" {
			op, body = opGet, []byte(keyName(i))
		} else {
			body = putCommand(keyName(i), value)
		}
		if _, err := l.client.call(ctx, op, body); err != nil {
			l.failed.CompareAndSwap(nil, &err)
			return
		}
		l.ops.Add(1)
	}
}

// ProbeOptions are what a probe process is started with.
type ProbeOptions struct {
	Addr  string
	Every time.Duration
	Size  int
}

// Probe writes at a fixed pace, whether or not earlier writes were answered, and prints for every acknowledged one when it
// began and when its answer came, in Unix nanoseconds. It ends with ctx.
func Probe(ctx context.Context, o ProbeOptions, out io.Writer) error {
	c, err := dial(ctx, o.Addr)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	defer c.close()
	command := putCommand(keyName(0), randomValue(o.Size))
	var mu sync.Mutex
	var wg sync.WaitGroup
	defer wg.Wait()
	pace := time.NewTicker(o.Every)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
		wg.Go(func() {
			begin := time.Now()
			try, cancel := context.WithTimeout(ctx, 5*time.Second)
			defer cancel()
			if _, err := c.call(try, opPut, command); err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			_, _ = fmt.Fprintln(out, begin.UnixNano(), time.Now().UnixNano())
		})
	}
}
