package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"cairn/index/embed"
)

func encodeMeta(meta any) ([]byte, error) {
	if s, ok := meta.(string); ok {
		return []byte(s), nil
	}
	return nil, errors.New("meta is not a string")
}

func decodeMeta(b []byte) (any, error) { return string(b), nil }

func filled(t testing.TB, n int) *Pool {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPool()
	for i := range n {
		d := Doc{ID: fmt.Sprintf("d%d", i), Meta: fmt.Sprint("meta ", i), Fields: []Field{{"scenario", fmt.Sprintf("refund order %d", i), 2}, {"content", "重试", 0}}}
		if i%3 > 0 {
			d.Vectors = []embed.Vector{unit(r, embed.MiniLM), {}, unit(r, embed.E5)}[:1+i%3]
		}
		mustPut(t, p, d)
	}
	p.Delete("d1")
	return p
}

func saved(t testing.TB, p *Pool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Save(&b, Info{"gen-7", 812}, encodeMeta); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSaveAndLoad(t *testing.T) {
	p := filled(t, 700)
	path := filepath.Join(t.TempDir(), "pool")
	for range 2 { // the second time over the first
		if err := p.SaveFile(path, Info{"gen-7", 812}, encodeMeta); err != nil {
			t.Fatal(err)
		}
	}
	got, info, err := LoadFile(path, decodeMeta)
	if err != nil || info != (Info{"gen-7", 812}) || got.Len() != p.Len() {
		t.Fatalf("%+v, %v", info, err)
	}
	p.All(func(d Doc) bool {
		if other, ok := got.Get(d.ID); !ok || !reflect.DeepEqual(d, other) {
			t.Errorf("document %s is another: %v", d.ID, ok)
		}
		return true
	})
	r := rand.New(rand.NewPCG(3, 3))
	q := Query{Text: "refund 17", Vector: unit(r, embed.MiniLM), IgnoreFloor: true}
	want, err := p.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	if hits, err := got.Search(context.Background(), q); err != nil || !reflect.DeepEqual(hits, want) {
		t.Errorf("the loaded pool answers differently: %v", err)
	}
	left, err := filepath.Glob(path + ".*")
	if err != nil || len(left) != 0 {
		t.Errorf("left beside the file: %v, %v", left, err)
	}
}

func TestSaveFails(t *testing.T) {
	p := NewPool()
	mustPut(t, p, Doc{ID: "a", Meta: 1})
	folder := t.TempDir()
	path := filepath.Join(folder, "pool")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.SaveFile(path, Info{}, encodeMeta); err == nil {
		t.Error("saved a meta that cannot be encoded")
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the old file is %q, %v", b, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("left in the folder: %v, %v", entries, err)
	}
	if _, _, err := LoadFile(filepath.Join(folder, "none"), decodeMeta); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// TestDamagedFile changes or cuts the file at every place of a small one.
func TestDamagedFile(t *testing.T) {
	good := saved(t, filled(t, 4))
	if _, _, err := Load(bytes.NewReader(good), decodeMeta); err != nil {
		t.Fatal(err)
	}
	load := func(b []byte) error { _, _, err := Load(bytes.NewReader(b), decodeMeta); return err }
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if err := load(bad); !errors.Is(err, ErrFile) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if i%7 == 0 {
			if err := load(good[:i]); !errors.Is(err, ErrFile) {
				t.Fatalf("cut at %d: %v", i, err)
			}
		}
	}
	if err := load(append(bytes.Clone(good), 0)); !errors.Is(err, ErrFile) {
		t.Errorf("a byte behind the end: %v", err)
	}
	newer := bytes.Clone(good)
	binary.LittleEndian.PutUint32(newer[len(fileMagic):], fileVersion+1)
	if err := load(newer); !errors.Is(err, ErrFile) {
		t.Errorf("newer version: %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	good := saved(f, filled(f, 4))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, _, err := Load(bytes.NewReader(b), decodeMeta); err == nil {
			p.Close()
		}
	})
}

func TestStoredValues(t *testing.T) {
	for _, want := range []floats{nil, {}, {1}, {-1, 0.5, 3}, make(floats, 384), make(floats, 20_000)} {
		item, err := cbor.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var raw []byte // what the values are stored as
		if err := cbor.Unmarshal(item, &raw); err != nil || len(raw) != 4*len(want) {
			t.Errorf("%d values are stored as %d bytes: %v", len(want), len(raw), err)
		}
		var got floats
		if err := cbor.Unmarshal(item, &got); err != nil || len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%d values come back as %d: %v", len(want), len(got), err)
		}
	}
	for _, bad := range [][]byte{{0x43, 1, 2, 3}, {0x01}, {0x64, 'a', 'b', 'c', 'd'}, {0x5F, 0x44, 1, 2, 3, 4, 0xFF}} {
		var got floats
		if err := cbor.Unmarshal(bad, &got); !errors.Is(err, ErrFile) {
			t.Errorf("% x is read as %v: %v", bad, got, err)
		}
	}
}
