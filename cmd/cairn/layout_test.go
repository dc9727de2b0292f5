package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// own lists what each package may import of Cairn (ARCHITECTURE.md section 2). A trailing slash allows all below it. The
// longest entry that a package is or is below of counts.
var own = map[string][]string{
	"cairn/cmd":             {"cairn/"},
	"cairn/node":            {"cairn/node/", "cairn/federation", "cairn/index", "cairn/index/", "cairn/consensus"},
	"cairn/node/api":        {},
	"cairn/node/store":      {"cairn/federation"},
	"cairn/node/acquire":    {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/compact":    {"cairn/node/acquire", "cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/gate":       {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/recall":     {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/refine":     {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/capsule":    {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/screen":     {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/node/llm":        {"cairn/node/store", "cairn/federation", "cairn/index", "cairn/index/"},
	"cairn/federation":      {},
	"cairn/federation/link": {"cairn/federation"},
	"cairn/index":           {"cairn/index/"},
	"cairn/consensus":       {},
	"cairn/web":             {"cairn/node", "cairn/node/", "cairn/federation", "cairn/web/"},
}

// homes says where the types of a third-party module may appear. The benchmarks hold their raw forms against Cairn's own.
var homes = map[string][]string{
	"github.com/hashicorp/raft":         {"cairn/consensus", "cairn/cmd/cairn-bench"},
	"github.com/cockroachdb/pebble":     {"cairn/consensus", "cairn/node/store", "cairn/cmd/cairn-bench"},
	"github.com/gorilla/websocket":      {"cairn/web", "cairn/federation/link"},
	"github.com/danielgtaylor/huma":     {"cairn/web"},
	"github.com/sashabaranov/go-openai": {"cairn/node/llm", "cairn/index/embed"},
	"github.com/viterin/vek":            {"cairn/index", "cairn/cmd/cairn-bench"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "cairn/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func below(path, parent string) bool { return path == parent || strings.HasPrefix(path, parent+"/") }

func rule(path string) (allowed []string, found bool) {
	best := ""
	for k := range own {
		if below(path, k) && len(k) > len(best) {
			best = k
		}
	}
	return own[best], best != ""
}

func allows(allowed []string, path, imported string) bool {
	if below(imported, path) {
		return true
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return imported == a || strings.HasSuffix(a, "/") && strings.HasPrefix(imported, a)
	})
}

func TestImportsFollowTheArchitecture(t *testing.T) {
	list := packages(t)
	if len(list) < 15 {
		t.Fatalf("go list found %d packages", len(list))
	}
	for _, p := range list {
		allowed, found := rule(p.ImportPath)
		if !found {
			t.Errorf("%s is in no folder of the architecture", p.ImportPath)
			continue
		}
		for _, i := range p.Imports {
			if strings.HasPrefix(i, "cairn/") && !allows(allowed, p.ImportPath, i) {
				t.Errorf("%s may not import %s", p.ImportPath, i)
			}
			for module, places := range homes {
				if below(i, module) && !slices.ContainsFunc(places, func(h string) bool { return below(p.ImportPath, h) }) {
					t.Errorf("%s may not use %s: its types stay in %v", p.ImportPath, module, places)
				}
			}
		}
	}
}

// TestTheRuleCanFail keeps the check honest.
func TestTheRuleCanFail(t *testing.T) {
	allowed, _ := rule("cairn/consensus")
	if allows(allowed, "cairn/consensus", "cairn/node/store") {
		t.Error("consensus may import node/store")
	}
	allowed, _ = rule("cairn/node/store")
	if allows(allowed, "cairn/node/store", "cairn/index") {
		t.Error("node/store may import the index")
	}
	if _, found := rule("cairn/util"); found {
		t.Error("a folder outside the architecture passes")
	}
}
