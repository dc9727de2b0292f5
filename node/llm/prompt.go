package llm

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"unicode"
)

// PromptVersion names the set of prompts in use. It goes up with every change to a prompt.
const PromptVersion = "3"

// The languages that prompts exist in.
const (
	English = "en"
	Chinese = "zh"
)

//go:embed prompts/v3/*.tmpl
var promptFiles embed.FS

// prompts are the templates <role>.<language>, each with the parts "system" and "user", and repair.<language>.
var prompts = func() map[string]*template.Template {
	entries, err := promptFiles.ReadDir("prompts/v3")
	if err != nil {
		panic(err) // embedded
	}
	out := make(map[string]*template.Template, len(entries))
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".tmpl")
		text, err := promptFiles.ReadFile("prompts/v3/" + e.Name())
		if err != nil {
			panic(err)
		}
		out[name] = template.Must(template.New(name).Funcs(template.FuncMap{"quote": quote}).Parse(string(text)))
	}
	return out
}()

// quote writes a value as JSON: whatever a memory says stays inside its quotation marks.
func quote(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}

// render fills both parts of a prompt.
func render(role Role, language string, data any) (system, user string, err error) {
	t := prompts[string(role)+"."+language]
	if t == nil {
		return "", "", fmt.Errorf("no prompt %s.%s", role, language)
	}
	var out [2]string
	for i, part := range []string{"system", "user"} {
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, part, data); err != nil {
			return "", "", err
		}
		out[i] = strings.TrimSpace(b.String())
	}
	return out[0], out[1], nil
}

// repairText asks for the answer once more, in the language of the question.
func repairText(question string, problem error) string {
	var b strings.Builder
	if err := prompts["repair."+languageOf(question)].Execute(&b, problem.Error()); err != nil {
		return problem.Error()
	}
	return strings.TrimSpace(b.String())
}

// languageOf a text: Chinese when at least three in ten letters are Han, else English.
func languageOf(text string) string {
	letters, han := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
	}
	if han > 0 && han*10 >= letters*3 {
		return Chinese
	}
	return English
}

// shorten cuts a text to n characters and marks the cut.
func shorten(s string, n int) string {
	if head := clip(s, n); len(head) < len(s) {
		return head + "…"
	}
	return s
}
