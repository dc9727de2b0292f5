package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"cairn/cmd/cairn/importer"
	"cairn/web/client"
)

// manyConnections keeps the connections of parallel requests open.
var manyConnections = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}

// measureImport imports every trajectory file twice.
func measureImport(a *app, r *report, url, adminKey string) error {
	files, err := a.dataFiles("trajectories-*.jsonl")
	if err != nil {
		return err
	}
	if len(files) == 0 {
		r.note("import rows left out: no trajectories-*.jsonl (--data)")
		return nil
	}
	if a.options.Quick {
		files = smallest(files, 3)
	}
	c, err := enrol(a.ctx, url, adminKey, "import")
	if err != nil {
		return err
	}
	var lost, again, rows float64
	start := time.Now()
	for _, f := range files {
		res, err := importFile(a, c, f)
		if err != nil {
			return err
		}
		rows += float64(res.Read)
		lost += float64(res.Read - res.Recorded - res.AlreadyKnown - res.Failed)
		for _, x := range res.Failures {
			r.note("%s line %d: %s", f, x.Line, x.Error)
		}
	}
	rate := rows / time.Since(start).Seconds()
	for _, f := range files {
		res, err := importFile(a, c, f)
		if err != nil {
			return err
		}
		again += float64(res.Recorded)
	}
	r.note("imported %g rows of %d files", rows, len(files))
	return errors.Join(
		r.add("import_lost", []float64{lost}), r.add("import_again", []float64{again}), r.add("import_rows_per_s", []float64{rate}),
	)
}

func importFile(a *app, c *client.Client, path string) (*importer.Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanned, err := importer.Scan(f)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	res, err := scanned.Import(a.ctx, c, 8, nil)
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", path, err)
	}
	return res, nil
}

// smallest keeps the n smallest files, in their order.
func smallest(files []string, n int) []string {
	sizes := make([]float64, len(files))
	for i, f := range files {
		if info, err := os.Stat(f); err == nil {
			sizes[i] = float64(info.Size())
		}
	}
	limit := quantile(sizes, float64(n)/float64(max(n, len(files))))
	var out []string
	for i, f := range files {
		if sizes[i] <= limit && len(out) < n {
			out = append(out, f)
		}
	}
	return out
}
