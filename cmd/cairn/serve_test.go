package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestServeRefusesFlagsOfClients: they would be ignored.
func TestServeRefusesFlagsOfClients(t *testing.T) {
	for _, flag := range []string{"--addr=127.0.0.1:1", "--key-file=none"} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"serve", flag, "--data", t.TempDir()}, strings.NewReader(""), &out, &errs)
		if code != 2 || !strings.Contains(errs.String(), "--api") {
			t.Errorf("%s: exit %d, %s", flag, code, errs.String())
		}
	}
}
