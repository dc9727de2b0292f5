package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"

	"github.com/oklog/ulid/v2"

	"cairn/node/store"
)

// Day is a day in milliseconds, the unit of simulated time.
const Day = int64(24 * 3_600_000)

// Epoch is when every simulated site is made, Unix milliseconds: midnight UTC of a day in 2026.
const Epoch = int64(1_767_225_600_000)

// Site is one store with a clock and a log position.
type Site struct {
	store *store.Store
	rng   *rand.Rand
	now   int64
	index uint64

	commands [][]byte
	times    []int64
	applied  int64
}

// Open makes a new site in the empty folder dir. All draws of the leader and all ids come from seed.
func Open(dir string, seed uint64) (*Site, error) {
	s, err := store.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return begin(s, seed)
}

// OpenInMemory makes a new site without a folder.
func OpenInMemory(seed uint64) (*Site, error) {
	s, err := store.OpenInMemory(slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return begin(s, seed)
}

func begin(s *store.Store, seed uint64) (*Site, error) {
	site := &Site{store: s, rng: rand.New(rand.NewPCG(seed, 0x5174)), now: Epoch}
	boot := store.Bootstrap{Site: "bench", Admin: site.Key("admin")}
	if err := site.Do(store.KindBootstrap, boot, nil); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return site, nil
}

// Close closes the store; a folder stays.
func (s *Site) Close() error { return s.store.Close() }

// Now is the simulated time, Unix milliseconds.
func (s *Site) Now() int64 { return s.now }

// Advance moves the clock to a later time; earlier ones change nothing.
func (s *Site) Advance(to int64) { s.now = max(s.now, to) }

// Applied is the number of commands applied so far.
func (s *Site) Applied() int64 { return s.applied }

// Hash is the hash of the state, chained over the writes of every command.
func (s *Site) Hash() [32]byte {
	_, hash := s.store.Hash()
	return hash
}

// NewID draws an id of the present time.
func (s *Site) NewID() store.ID {
	var id ulid.ULID
	binary.BigEndian.PutUint64(id[8:], s.rng.Uint64())
	binary.BigEndian.PutUint16(id[6:], uint16(s.rng.Uint32()))
	ms := uint64(s.now)
	id[0], id[1], id[2], id[3], id[4], id[5] = byte(ms>>40), byte(ms>>32), byte(ms>>24), byte(ms>>16), byte(ms>>8), byte(ms)
	return id
}

// Key is a fresh key for an agent of this name.
func (s *Site) Key(name string) store.AgentKey {
	key := store.AgentKey{ID: name}
	for i := 0; i < len(key.Hash); i += 8 {
		binary.BigEndian.PutUint64(key.Hash[i:], s.rng.Uint64())
	}
	return key
}

// Queue adds a command of the default namespace, stamped with the present time, to the batch that Flush applies.
func (s *Site) Queue(kind store.Kind, body any) error {
	c, err := store.NewCommand(kind, store.DefaultNamespace, body)
	if err != nil {
		return err
	}
	data, err := c.Encode()
	if err != nil {
		return err
	}
	s.commands, s.times = append(s.commands, data), append(s.times, s.now)
	return nil
}

// Flush applies what was queued as one batch and returns the results in order.
func (s *Site) Flush() ([]store.Result, error) {
	if len(s.commands) == 0 {
		return nil, nil
	}
	raw, err := s.store.Apply(s.index+1, 1, s.times, s.commands)
	if err != nil {
		return nil, err
	}
	s.index += uint64(len(s.commands))
	s.applied += int64(len(s.commands))
	s.commands, s.times = s.commands[:0], s.times[:0]
	results := make([]store.Result, len(raw))
	for i, data := range raw {
		if results[i], err = store.DecodeResult(data); err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Do applies one command that must be accepted and decodes its result into out, which may be nil. Nothing may be queued.
func (s *Site) Do(kind store.Kind, body, out any) error {
	if len(s.commands) > 0 {
		return errors.New("commands are queued")
	}
	if err := s.Queue(kind, body); err != nil {
		return err
	}
	results, err := s.Flush()
	if err != nil {
		return err
	}
	if r := results[0]; r.Reject != nil {
		return fmt.Errorf("command %d: %w", kind, r.Reject)
	}
	if out == nil {
		return nil
	}
	return store.DecodeBody(results[0].Body, out)
}

// Read runs fn on a snapshot of what is applied.
func (s *Site) Read(fn func(v *store.View, ns *store.Namespace) error) error {
	v, err := s.store.View()
	if err != nil {
		return err
	}
	defer v.Close()
	ns, err := v.Namespace(store.DefaultNamespace)
	if err != nil {
		return err
	}
	if ns == nil {
		return errors.New("the default namespace is missing")
	}
	return fn(v, ns)
}

// Tick runs the rules that time drives until nothing due is left.
func (s *Site) Tick() error {
	for {
		var out store.Ticked
		if err := s.Do(store.KindTick, store.Tick{}, &out); err != nil {
			return err
		}
		if !out.More {
			return nil
		}
	}
}
