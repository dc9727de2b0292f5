package llm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FromEnv reads options from the environment over the defaults. Each of the first block may end in _<ROLE> (DISTIL, JUDGE,
// RERANK, REWRITE, REWARD) and is then for that role alone:
//
//	CAIRN_LLM_URL          endpoint up to /v1, or CAIRN_LLM_URL_FILE: a file that holds it
//	CAIRN_LLM_KEY          key, or CAIRN_LLM_KEY_FILE: a file that holds it
//	CAIRN_LLM_MODEL        model; "off" turns a role off
//	CAIRN_LLM_TEMPERATURE  0 to 2
//	CAIRN_LLM_MAX_TOKENS   longest answer
//	CAIRN_LLM_MAX_PROMPT   longest question in characters
//	CAIRN_LLM_TIMEOUT      of one try, such as 90s; a recall waits for 2 s at most, whatever is set here
//	CAIRN_LLM_RETRIES      after the first try
//	CAIRN_LLM_SEED         whole number, sent when set
//	CAIRN_LLM_SCHEMA       auto, or off: the endpoint is not asked for a JSON schema
//	CAIRN_LLM_STREAM       true: answers are read as a stream
//
//	CAIRN_LLM_TOKENS_PER_MINUTE, CAIRN_LLM_TOKENS_PER_DAY              for a namespace; -1 no bound, 0 nothing
//	CAIRN_LLM_AGENT_TOKENS_PER_MINUTE, CAIRN_LLM_AGENT_TOKENS_PER_DAY  for an agent
//
// The file of a setting is CAIRN_LLM_URL_FILE_<ROLE> and CAIRN_LLM_KEY_FILE_<ROLE> for one role. getenv is os.Getenv or what
// stands for it. Every problem is reported at once.
func FromEnv(getenv func(string) string) (Options, error) {
	e := &environ{getenv: getenv}
	o := DefaultOptions()
	o.BaseURL, o.Key = e.orFile("CAIRN_LLM_URL", ""), e.orFile("CAIRN_LLM_KEY", "")
	for _, role := range Roles {
		if m := e.model("_" + strings.ToUpper(string(role))); m.Name != "" && m.Name != "off" {
			o.Models[role] = m
		}
	}
	for _, n := range []struct {
		name string
		into *int64
	}{
		{"CAIRN_LLM_TOKENS_PER_MINUTE", &o.Namespace.PerMinute}, {"CAIRN_LLM_TOKENS_PER_DAY", &o.Namespace.PerDay},
		{"CAIRN_LLM_AGENT_TOKENS_PER_MINUTE", &o.Agent.PerMinute}, {"CAIRN_LLM_AGENT_TOKENS_PER_DAY", &o.Agent.PerDay},
	} {
		read(e, n.name, "a whole number", n.into, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	}
	o.EnsureDefaults()
	return o, errors.Join(append(e.problems, o.Validate())...)
}

// environ reads variables and gathers what is wrong with them.
type environ struct {
	getenv   func(string) string
	problems []error
	wrong    []string // variables that a problem names
}

// model reads what is set for one role; its address and key are its own only.
func (e *environ) model(suffix string) Model {
	m := Model{BaseURL: e.orFile("CAIRN_LLM_URL", suffix), Key: e.orFile("CAIRN_LLM_KEY", suffix), Name: e.value("CAIRN_LLM_MODEL", suffix)}
	number := strconv.Atoi
	ofRole(e, "TEMPERATURE", suffix, "a number", &m.Temperature, func(s string) (float32, error) {
		x, err := strconv.ParseFloat(s, 32)
		return float32(x), err
	})
	ofRole(e, "MAX_TOKENS", suffix, "a whole number", &m.MaxTokens, number)
	ofRole(e, "MAX_PROMPT", suffix, "a whole number", &m.MaxPrompt, number)
	ofRole(e, "TIMEOUT", suffix, "a duration such as 90s", &m.Timeout, time.ParseDuration)
	ofRole(e, "RETRIES", suffix, "a whole number", &m.Retries, func(s string) (int, error) {
		n, err := number(s)
		if n == 0 {
			n = -1 // none; in a Model 0 is the default
		}
		return n, err
	})
	ofRole(e, "SEED", suffix, "a whole number", &m.Seed, func(s string) (*int, error) {
		seed, err := number(s)
		return &seed, err
	})
	ofRole(e, "STREAM", suffix, "true or false", &m.Stream, strconv.ParseBool)
	m.Schema = e.value("CAIRN_LLM_SCHEMA", suffix)
	return m
}

// value is the role's own variable, else the common one.
func (e *environ) value(name, suffix string) string {
	if own := e.getenv(name + suffix); own != "" {
		return own
	}
	return e.getenv(name)
}

// orFile is a variable, or the text of the file that stands under its name with _FILE. A role has its own only: what is
// common goes to the options.
func (e *environ) orFile(name, suffix string) string {
	path := e.getenv(name + "_FILE" + suffix)
	if path == "" {
		return e.getenv(name + suffix)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		e.problems = append(e.problems, fmt.Errorf("%s_FILE%s: %w", name, suffix, err))
		return ""
	}
	return strings.TrimSpace(string(data))
}

// ofRole reads a role's own variable, else the common one.
func ofRole[T any](e *environ, name, suffix, want string, into *T, parse func(string) (T, error)) {
	name = "CAIRN_LLM_" + name
	if e.getenv(name+suffix) != "" {
		name += suffix
	}
	read(e, name, want, into, parse)
}

// read parses a variable that is set. A problem names it once, however many roles read it, and does not repeat its value.
func read[T any](e *environ, name, want string, into *T, parse func(string) (T, error)) {
	text := e.getenv(name)
	if text == "" || slices.Contains(e.wrong, name) {
		return
	}
	value, err := parse(text)
	if err != nil {
		e.wrong = append(e.wrong, name)
		e.problems = append(e.problems, fmt.Errorf("%s: want %s", name, want))
		return
	}
	*into = value
}
