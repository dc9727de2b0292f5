package demo

import (
	"fmt"
	"io"
	"strings"

	"cairn/cmd/cairn/lineage"
)

// Print writes the report for people. Columns are separated by tabs.
func Print(w io.Writer, r *Report) {
	fmt.Fprintf(w, "Seven honest agents of five principals, one liar; %d tasks an arm, seed %d, %.1f s\n\n", r.Tasks, r.Seed, r.Seconds)
	fmt.Fprintln(w, "success\tall\t1st quarter\t2nd\t3rd\t4th")
	for _, name := range []string{"none", "private", "shared"} {
		a := r.Arms[name]
		fmt.Fprintf(w, "%s\t%s", title(name), rate(a.Success, a.Low, a.High))
		for i, q := range a.Quarters {
			fmt.Fprintf(w, "\t%s", rate(q, a.Intervals[i][0], a.Intervals[i][1]))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "[ ] are 95 % Wilson intervals over the honest agents' tasks, taken as independent.\n\n")
	e := r.Experiences
	fmt.Fprintf(w, "Shared namespace: %d experiences recorded (%d of them buffered), %d discarded, %d put up as candidates, %d in the meta-pool now, %d demoted.\n",
		e.Recorded, e.Buffered, e.Discarded, e.Candidates, e.Promoted, e.Demoted)
	fmt.Fprintf(w, "The liar: %d pieces of harmful advice put up, %d ever promoted, %d in the meta-pool now.\n",
		r.Liar.Candidates, r.Liar.EverPromoted, r.Liar.Promoted)
	printPromoted(w, r.Promoted)
	if r.Example != nil {
		printExample(w, r.Example)
	}
}

func title(arm string) string {
	return map[string]string{"none": "no memory", "private": "private memory", "shared": "shared memory"}[arm]
}

func rate(p, low, high float64) string { return fmt.Sprintf("%.2f [%.2f, %.2f]", p, low, high) }

func printPromoted(w io.Writer, items []Promoted) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(w, "\npromoted\ttask type\tauthor\ttrust\tinterval\tcitations\tjury heard")
	for _, p := range items {
		t := p.Trust
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3f\t[%.2f, %.2f]\t%d\t%d of %d\n",
			p.ID, p.TaskType, p.Author, t.Trust.Value, t.Trust.Low, t.Trust.High, t.Citations, t.Heard, t.Jury)
	}
}

func printExample(w io.Writer, e *Example) {
	t := e.Trust
	fmt.Fprintf(w, "\nOne of them, %s:\n  %s\n", e.ID, e.Content)
	fmt.Fprintf(w, "  trust %.3f = mean %.3f - half width %.3f; promoted from %.2f on, demoted below %.2f\n",
		t.Trust.Value, t.Trust.Mean, t.Half, t.Threshold, t.DemoteAt)
	for _, j := range t.Jurors {
		fmt.Fprintf(w, "  juror %s: weight %.1f, lift %.3f, leniency %+.3f\n", j.Juror, j.Weight, j.Lift, j.Leniency)
	}
	fmt.Fprintln(w, "  lineage:")
	for line := range strings.Lines(lineage.Tree(e.Lineage, e.ID)) {
		fmt.Fprint(w, "    ", line)
	}
}
