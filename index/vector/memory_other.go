//go:build !linux

package vector

type mapping struct{}

func systemMemory(int) ([]byte, mapping, bool) { return nil, mapping{}, false }

func (s *Space) own(mapping) {}

func (g *graph) own(mapping) {}

func (s *Space) moreSpill(int) ([]byte, bool) { return nil, false }
