// Package jsonl reads files of JSON values, one after the other, as the data sets of the benchmarks are.
package jsonl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Each calls visit with each value of a file, until that fails. The error names the file; it matches [os.ErrNotExist] when the
// file is missing.
func Each[T any](path string, visit func(T) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for dec := json.NewDecoder(f); ; {
		var v T
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(v)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
}

// Read appends the values of a file to a list.
func Read[T any](path string, into *[]T) error {
	return Each(path, func(v T) error {
		*into = append(*into, v)
		return nil
	})
}
