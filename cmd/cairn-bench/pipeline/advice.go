package pipeline

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"cairn/node/acquire"
)

// advised is one thing that a lesson tells to do: words that have to stand in a call of a tool.
type advised struct {
	tool  string
	words []string
}

var (
	inTool     = regexp.MustCompile("(?: in |（)`([^`]+)`）?$")
	backticked = regexp.MustCompile("`([^`]+)`")
)

// readAdvice reads the text of a contrast the way its reader does: what stands after "Do:" up to "Avoid:", item by item,
// strongest first.
func readAdvice(content string) []advised {
	_, do, ok := cutAny(content, "Do: ", "应当：")
	if !ok {
		return nil
	}
	do, _, _ = cutAny(do, " Avoid: ", "避免：")
	var out []advised
	for _, item := range strings.FieldsFunc(strings.TrimRight(do, ".。 "), func(r rune) bool { return r == ';' || r == '；' }) {
		item = strings.TrimSpace(item)
		m := inTool.FindStringSubmatchIndex(item)
		if m == nil {
			continue // advice about tools or arguments, not about what goes into them
		}
		a := advised{tool: item[m[2]:m[3]]}
		for _, w := range backticked.FindAllStringSubmatch(item[:m[0]], -1) {
			a.words = append(a.words, w[1])
		}
		if len(a.words) > 0 {
			out = append(out, a)
		}
	}
	return out
}

func cutAny(s string, marks ...string) (before, after string, ok bool) {
	for _, m := range marks {
		if before, after, ok = strings.Cut(s, m); ok {
			return before, after, true
		}
	}
	return s, "", false
}

// follows reports whether the first call of an attempt has all words of an item.
func (a advised) follows(row attemptRow) bool {
	if len(row.Steps) == 0 || row.Steps[0].Tool != a.tool {
		return false
	}
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(row.Steps[0].Args)) {
		fmt.Fprintf(&text, "%s=%v\n", name, row.Steps[0].Args[name])
	}
	flat := strings.ToLower(strings.Join(strings.Fields(text.String()), " "))
	return !slices.ContainsFunc(a.words, func(w string) bool { return !hasPiece(flat, strings.ToLower(w)) })
}

// hasPiece reports whether a piece of a command stands in a text: its words as whole words, in order, other words may
// stand between ("find -exec" in "find . -type f -exec md5sum").
func hasPiece(text, piece string) bool {
	for part := range strings.FieldsSeq(piece) {
		at := indexWord(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

func indexWord(text, word string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		before, after := ' ', ' '
		if at > 0 {
			before = rune(text[at-1])
		}
		if end := at + len(word); end < len(text) {
			after = rune(text[end])
		}
		if !(letter(before) && letter(rune(word[0]))) && !(letter(rune(word[len(word)-1])) && letter(after)) {
			return at
		}
		from = at + 1
	}
}

func letter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// divisions is how many ways the attempts at a task are split in halves; in each way either half teaches the other.
const divisions = 6

// advice measures what the leading advice of a group is worth to attempts it was not made from.
func (r *runner) advice() error {
	for _, d := range []struct{ domain, row string }{{"bash", "advice_lift_bash_points"}, {"sql", "advice_lift_sql_points"}} {
		groups, err := r.groups(d.domain)
		if err != nil {
			return err
		}
		leading, all := &trial{}, &trial{}
		for _, g := range groups {
			r.try(g, leading, all)
		}
		if value, low, high, ok := leading.lift(r.opts.Seed); ok {
			r.addRange(d.row, 100*value, 100*low, 100*high)
		}
		r.note("%s: %d tasks in %d divisions, advice from %d of %d halves; of the attempts tested %.0f follow the first item, %.0f do not",
			d.domain, len(groups), divisions, leading.advised, leading.halves, leading.followed(), leading.others())
		if value, low, high, ok := all.lift(r.opts.Seed); ok {
			r.note("%s: following any item of the advice %.1f points, %.1f to %.1f", d.domain, 100*value, 100*low, 100*high)
		}
	}
	return nil
}

// try distils every half of a group and tests the advice on the other half.
func (r *runner) try(g taskGroup, leading, all *trial) {
	leading.begin()
	all.begin()
	for salt := range uint64(divisions) {
		one, other := divide(g, r.opts.Seed+salt)
		for _, half := range [][2][]attemptRow{{one, other}, {other, one}} {
			leading.halves++
			items := distilledAdvice(g, half[0])
			if len(items) == 0 {
				continue
			}
			leading.advised++
			for _, row := range half[1] {
				if row.Reward == nil {
					continue
				}
				leading.count(row, items[0].follows(row))
				all.count(row, slices.ContainsFunc(items, func(a advised) bool { return a.follows(row) }))
			}
		}
	}
}

// trial collects attempts that follow advice and attempts that do not, by task and agent.
type trial struct {
	tasks           []map[string]*stratum
	halves, advised int
}

func (t *trial) begin() { t.tasks = append(t.tasks, map[string]*stratum{}) }

func (t *trial) count(row attemptRow, follows bool) {
	task := t.tasks[len(t.tasks)-1]
	if task[row.Agent] == nil {
		task[row.Agent] = &stratum{}
	}
	task[row.Agent].count(follows, *row.Reward >= 1)
}

func (t *trial) followed() (n float64) {
	for _, s := range pool(t.tasks) {
		n += s.followedN
	}
	return n / divisions
}

func (t *trial) others() (n float64) {
	for _, s := range pool(t.tasks) {
		n += s.otherN
	}
	return n / divisions
}

const resamples = 2000

// lift is the risk difference over agents. Its 95 % interval comes from drawing tasks again with replacement (Efron 1979):
// attempts at one task, and what several divisions say about them, are not independent.
func (t *trial) lift(seed uint64) (value, low, high float64, ok bool) {
	value, ok = riskDifference(pool(t.tasks))
	if !ok {
		return 0, 0, 0, false
	}
	draw := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // resampling needs to be repeatable
	var values []float64
	again := make([]map[string]*stratum, len(t.tasks))
	for range resamples {
		for i := range again {
			again[i] = t.tasks[draw.IntN(len(t.tasks))]
		}
		if v, ok := riskDifference(pool(again)); ok {
			values = append(values, v)
		}
	}
	return value, quantile(values, .025), quantile(values, .975), true
}

// pool adds the counts of several tasks, agent by agent in order of name.
func pool(tasks []map[string]*stratum) []*stratum {
	sum := map[string]*stratum{}
	for _, task := range tasks {
		for agent, s := range task {
			if sum[agent] == nil {
				sum[agent] = &stratum{}
			}
			sum[agent].add(*s)
		}
	}
	var out []*stratum
	for _, agent := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, sum[agent])
	}
	return out
}

// divide splits the attempts at a task by hash.
func divide(g taskGroup, salt uint64) (learn, test []attemptRow) {
	for _, row := range g.rows {
		if half(fmt.Sprintf("%s/%s/%d", g.id, row.Agent, row.Attempt), salt) == 0 {
			learn = append(learn, row)
		} else {
			test = append(test, row)
		}
	}
	return learn, test
}

// distilledAdvice is what the contrast of the learning attempts says, when the judge admits it.
func distilledAdvice(g taskGroup, learn []attemptRow) []advised {
	group := distillable(g, learn)
	drafts, _ := acquire.Distil(group)
	for _, d := range drafts {
		if d.Lens == acquire.LensContrast && acquire.Judge(d, group, 0, "").Admit {
			return readAdvice(d.Content)
		}
	}
	return nil
}
