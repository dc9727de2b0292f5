package pipeline

import (
	"regexp"

	"cairn/node/acquire"
)

var (
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	calledWith = regexp.MustCompile(`(?:^|[\s(>])([A-Za-z_][\w.-]*)\(([^()]*)\)`)
	namedArg   = regexp.MustCompile(`(?:^|[\s,(])([A-Za-z_][\w.-]*)=`)
)

// unknownTools distils every group and looks for tools and arguments that its attempts lack: those listed beside a draft,
// and those of the calls in its text.
func (r *runner) unknownTools() error {
	unknown, drafts, total := 0, 0, 0
	for _, domain := range append([]string{"unlabelled-toolbench"}, domains...) {
		groups, err := r.groups(domain)
		if err != nil {
			return err
		}
		for _, g := range r.few(groups, 2*perDomain) {
			total++
			known := namesOf(g)
			group := distillable(g, g.rows)
			group.Alike = func(string, string) float64 { return 1 } // every pair of segments is looked at
			list, _ := acquire.Distil(group)
			drafts += len(list)
			for _, d := range list {
				unknown += unknownIn(d, known)
			}
		}
	}
	r.add("unknown_tools", float64(unknown))
	r.note("unknown tools: %d experiences of %d groups", drafts, total)
	return nil
}

// names are the tools of a group and the arguments they were given.
type names struct{ tools, args map[string]bool }

func namesOf(g taskGroup) names {
	n := names{map[string]bool{}, map[string]bool{}}
	for _, row := range g.rows {
		for _, s := range row.Steps {
			n.tools[oneSpace(s.Tool)] = true
			for name := range s.Args {
				n.args[name] = true
			}
		}
	}
	return n
}

func unknownIn(d acquire.Draft, known names) int {
	unknown := 0
	for _, t := range d.Tools {
		if !known.tools[t] {
			unknown++
		}
	}
	text := quotedText.ReplaceAllString(d.Content, `""`)
	for _, m := range calledWith.FindAllStringSubmatch(text, -1) {
		if !known.tools[m[1]] {
			unknown++
		}
		for _, a := range namedArg.FindAllStringSubmatch(m[2], -1) {
			if !known.args[a[1]] {
				unknown++
			}
		}
	}
	return unknown
}
