package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a completion script made from the command line's own model.
func (c completionCmd) Run(a *app, k *kong.Context) error {
	var script string
	switch c.Shell {
	case "fish":
		script = fishCompletion(k.Model)
	case "zsh":
		script = "autoload -U +X bashcompinit && bashcompinit\n" + bashCompletion(k.Model)
	default:
		script = bashCompletion(k.Model)
	}
	_, err := io.WriteString(a.stdout, script)
	return err
}

// word is a command or flag that may follow a path of commands.
type word struct{ text, help string }

// walk calls f for every command path, the root's is "", with what may follow it.
func walk(n *kong.Node, path string, f func(path string, words []word)) {
	var words []word
	for _, child := range n.Children {
		if child.Type == kong.CommandNode {
			words = append(words, word{child.Name, child.Help})
		}
	}
	for _, group := range n.AllFlags(true) {
		for _, flag := range group {
			words = append(words, word{"--" + flag.Name, flag.Help})
		}
	}
	f(path, words)
	for _, child := range n.Children {
		if child.Type == kong.CommandNode {
			walk(child, strings.TrimSpace(path+" "+child.Name), f)
		}
	}
}

func bashCompletion(m *kong.Application) string {
	var b strings.Builder
	b.WriteString(`_cairn() {
  local cur=${COMP_WORDS[COMP_CWORD]} path="" words="" w
  for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $w == -* ]] || path="${path:+$path }$w"
  done
  case "$path" in
`)
	var cases []string
	walk(m.Node, "", func(path string, words []word) {
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = w.text
		}
		pattern := `""`
		if path != "" {
			pattern = fmt.Sprintf(`"%s"*`, path)
		}
		cases = append(cases, fmt.Sprintf("    %s) words=\"%s\" ;;\n", pattern, strings.Join(texts, " ")))
	})
	// The longest path comes first, because a shorter one is its prefix.
	for i := len(cases) - 1; i >= 0; i-- {
		b.WriteString(cases[i])
	}
	b.WriteString(`  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _cairn cairn
`)
	return b.String()
}

func fishCompletion(m *kong.Application) string {
	var b strings.Builder
	walk(m.Node, "", func(path string, words []word) {
		when := "__fish_use_subcommand"
		if path != "" {
			when = "__fish_seen_subcommand_from " + path[strings.LastIndex(path, " ")+1:]
		}
		for _, w := range words {
			what := "-a " + w.text
			if name, ok := strings.CutPrefix(w.text, "--"); ok {
				what = "-l " + name
			}
			help := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(w.help)
			fmt.Fprintf(&b, "complete -c cairn -n '%s' %s -d '%s'\n", when, what, help)
		}
	})
	return b.String()
}
