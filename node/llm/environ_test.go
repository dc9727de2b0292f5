package llm

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestSettingsOfARole: what is set for all roles holds for each, unless the role has its own.
func TestSettingsOfARole(t *testing.T) {
	address := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(address, []byte("http://localhost:3/v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"CAIRN_LLM_URL_FILE": address, "CAIRN_LLM_MODEL": "m", "CAIRN_LLM_TIMEOUT": "90s", "CAIRN_LLM_TEMPERATURE": "0.25", "CAIRN_LLM_SEED": "7",
		"CAIRN_LLM_TIMEOUT_RERANK": "1500ms", "CAIRN_LLM_RETRIES_DISTIL": "5", "CAIRN_LLM_RETRIES_JUDGE": "0", "CAIRN_LLM_MAX_TOKENS_JUDGE": "200",
		"CAIRN_LLM_MAX_PROMPT_REWARD": "9000", "CAIRN_LLM_SCHEMA_REWRITE": "off", "CAIRN_LLM_STREAM_DISTIL": "true", "CAIRN_LLM_SEED_REWARD": "0",
		"CAIRN_LLM_TEMPERATURE_REWRITE": "1",
	}
	o, err := FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	seven, zero := 7, 0
	all := Model{BaseURL: "http://localhost:3/v1", Name: "m", Temperature: .25, MaxPrompt: 24_000, Timeout: 90 * time.Second, Seed: &seven, Schema: SchemaAuto}
	for role, change := range map[Role]func(*Model){
		RoleDistil:  func(m *Model) { m.Retries, m.Stream, m.MaxTokens = 5, true, 1200 },
		RoleJudge:   func(m *Model) { m.Retries, m.MaxTokens = -1, 200 },
		RoleRerank:  func(m *Model) { m.Timeout, m.MaxTokens = 1500*time.Millisecond, 400 },
		RoleRewrite: func(m *Model) { m.Schema, m.Temperature, m.MaxTokens = SchemaOff, 1, 1200 },
		RoleReward:  func(m *Model) { m.MaxPrompt, m.Seed, m.Retries, m.MaxTokens = 9000, &zero, 2, 400 },
	} {
		want := all
		change(&want)
		if got := o.Models[role]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", role, got, want)
		}
	}
}

func TestWrongSettingsAreNamedOnce(t *testing.T) {
	for name, value := range map[string]string{
		"CAIRN_LLM_TIMEOUT": "90", "CAIRN_LLM_TEMPERATURE": "warm", "CAIRN_LLM_SEED": "x1", "CAIRN_LLM_RETRIES": "some", "CAIRN_LLM_STREAM": "perhaps",
		"CAIRN_LLM_MAX_TOKENS_JUDGE": "1e3", "CAIRN_LLM_MAX_PROMPT": "-", "CAIRN_LLM_AGENT_TOKENS_PER_DAY": "1.5", "CAIRN_LLM_URL_FILE_JUDGE": "/does/not/exist",
	} {
		env := map[string]string{"CAIRN_LLM_URL": "http://localhost:1/v1", "CAIRN_LLM_MODEL": "m", name: value}
		_, err := FromEnv(func(name string) string { return env[name] })
		if err == nil || strings.Count(err.Error(), name+":") != 1 || strings.Contains(err.Error(), "want "+value) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
	for name, value := range map[string]string{"CAIRN_LLM_SCHEMA_JUDGE": "strict", "CAIRN_LLM_TEMPERATURE_JUDGE": "3", "CAIRN_LLM_MAX_TOKENS": "1", "CAIRN_LLM_TIMEOUT": "-1s"} {
		env := map[string]string{"CAIRN_LLM_URL": "http://localhost:1/v1", "CAIRN_LLM_MODEL": "m", name: value}
		if _, err := FromEnv(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "judge: ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
