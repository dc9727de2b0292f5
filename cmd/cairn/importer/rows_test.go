package importer

import "testing"

func FuzzParseRow(f *testing.F) {
	f.Add(`{"task_id":"a","domain":"shop","task":"buy","attempt":0,"agent":"m","reward":1,"steps":[{"tool":"buy","args":{}}]}`)
	f.Add(`{"steps":[{"args":null}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		res := &Result{Dropped: map[string]int{}}
		group, ok := scanRow([]byte(text), 1, res)
		if ok && group == "" || res.Read > 1 || res.Failed > res.Read {
			t.Errorf("group %q %v, read %d, failed %d", group, ok, res.Read, res.Failed)
		}
	})
}
