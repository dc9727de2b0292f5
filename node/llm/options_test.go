package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFromEnv(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"CAIRN_LLM_URL": "http://localhost:1/v1", "CAIRN_LLM_KEY_FILE": key, "CAIRN_LLM_MODEL": "big", "CAIRN_LLM_MODEL_RERANK": "off",
		"CAIRN_LLM_MODEL_JUDGE": "strict", "CAIRN_LLM_URL_JUDGE": "http://localhost:2/v1", "CAIRN_LLM_AGENT_TOKENS_PER_DAY": "0", "CAIRN_LLM_TOKENS_PER_MINUTE": "-1",
	}
	o, err := FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	if m := o.Models[RoleDistil]; m.Name != "big" || m.Key != "from-file" || m.BaseURL != env["CAIRN_LLM_URL"] || m.Retries != 2 {
		t.Errorf("distil %+v", m)
	}
	if m := o.Models[RoleJudge]; m.Name != "strict" || m.Key != "" || m.BaseURL != "http://localhost:2/v1" {
		t.Errorf("judge %+v: another endpoint must not get the common key", m)
	}
	if _, ok := o.Models[RoleRerank]; ok || o.Agent.PerDay != 0 || o.Namespace.PerMinute != -1 {
		t.Errorf("options %+v", o)
	}
	if o, err := FromEnv(func(string) string { return "" }); err != nil || len(o.Models) != 0 {
		t.Errorf("an empty environment: %+v, %v", o, err)
	}
}

func TestEveryProblemIsTold(t *testing.T) {
	env := map[string]string{"CAIRN_LLM_URL": "ftp://x", "CAIRN_LLM_MODEL": "m", "CAIRN_LLM_TOKENS_PER_DAY": "many", "CAIRN_LLM_KEY_FILE": "/does/not/exist"}
	_, err := FromEnv(func(name string) string { return env[name] })
	if err == nil || !has(err.Error(), "base URL", "CAIRN_LLM_TOKENS_PER_DAY", "CAIRN_LLM_KEY_FILE") {
		t.Errorf("got %v", err)
	}
	_, err = New(Options{BaseURL: "http://u:p@h/v1", Models: map[Role]Model{RoleJudge: {Name: "m", Temperature: 3}, "dream": {Name: "x"}}})
	if err == nil || !has(err.Error(), "password", "temperature", "dream") {
		t.Errorf("got %v", err)
	}
}

// TestPromptVersion fails when a prompt changes and the version does not: lineage would name the wrong prompt.
func TestPromptVersion(t *testing.T) {
	entries, err := promptFiles.ReadDir("prompts/v3")
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	for _, e := range entries {
		text, err := promptFiles.ReadFile("prompts/v3/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		h.Write([]byte(e.Name() + "\x00" + string(text) + "\x00"))
	}
	got := PromptVersion + " " + hex.EncodeToString(h.Sum(nil))
	want, err := os.ReadFile("testdata/prompts.sum")
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.TrimSpace(string(want)) {
		t.Errorf("prompts are %s; raise PromptVersion and write that to testdata/prompts.sum", got)
	}
}

func TestPromptsExistInBothLanguages(t *testing.T) {
	for _, role := range append([]Role{promptReflect}, Roles...) {
		for _, language := range []string{English, Chinese} {
			if prompts[string(role)+"."+language] == nil {
				t.Errorf("no prompt %s.%s", role, language)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{goodVerdict, "```json\n{}\n```", "{", `{"a":{"b":"}"}}`, "<think>{</think>{\"a\":1,}", string(judgeSchema.body)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var v map[string]any
		if err := parse(s, &v); err == nil && v == nil {
			t.Errorf("%q: no error and nothing read", s)
		}
		for _, read := range []func() error{
			func() error { _, err := readVerdict(s); return err }, func() error { _, err := flights().read(s); return err },
			func() error { _, err := recalled().readRanking(s); return err }, func() error { _, err := recalled().readRewrite(s); return err },
			func() error { _, err := refused().read(s); return err },
		} {
			_ = read()
		}
	})
}
