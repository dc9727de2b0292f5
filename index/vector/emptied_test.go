package vector

import "testing"

// TestSearchInAnEmptiedSpace: the last row has gone, its place is kept for the next one.
func TestSearchInAnEmptiedSpace(t *testing.T) {
	s := NewSpace(4)
	v := []float32{1, 0, 0, 0}
	defer s.Close()
	row, err := s.Add(v, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Remove(row)
	for _, search := range []func(Search) ([]Match, error){s.Search, s.Exact} {
		if got, err := search(Search{Values: v, K: 3, Part: AnyPart}); err != nil || len(got) != 0 {
			t.Errorf("got %v, %v", got, err)
		}
	}
}
