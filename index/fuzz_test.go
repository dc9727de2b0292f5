package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"cairn/index/embed"
)

// FuzzLoadSections loads files whose sums are right and whose sections are anything: what gets past the sums is refused whole, or
// gives a pool that saves and loads again.
func FuzzLoadSections(f *testing.F) {
	docs := []storedDoc{{ID: "a", Fields: text("refund"), Vectors: []storedVector{{embed.MiniLM, floats{1, 0}}}}, {ID: "b"}}
	payload, err := cbor.Marshal(docs)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload, append([]byte(embed.MiniLM), 0, 1, 2, 3), 2)
	f.Add([]byte{0x80}, []byte{}, 0)
	f.Fuzz(func(t *testing.T, docs, links []byte, count int) {
		p, _, err := Load(bytes.NewReader(fileOf(t, docs, links, count)), decodeMeta)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Fatal(err)
			}
			return
		}
		defer p.Close()
		again, _, err := Load(bytes.NewReader(saved(t, p)), decodeMeta)
		if err != nil || again.Len() != p.Len() {
			t.Fatalf("loaded %d documents, then: %v", p.Len(), err)
		}
		again.Close()
	})
}

// fileOf is a file with one section of documents, one of links, and the number of documents that the end names.
func fileOf(t *testing.T, docs, links []byte, count int) []byte {
	t.Helper()
	b := bytes.NewBufferString(fileMagic)
	b.Write(binary.LittleEndian.AppendUint32(nil, fileVersion))
	err := errors.Join(writeCBOR(b, sectionHeader, Info{}), writeSection(b, sectionDocs, docs), writeSection(b, sectionLinks, links),
		writeCBOR(b, sectionEnd, storedEnd{count}))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
