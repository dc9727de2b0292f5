package pipeline

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"cairn/federation"
	"cairn/index"
	vectors "cairn/index/embed"
	"cairn/node/acquire"
)

// pairFiles are texts that say the same in other words and texts that differ in one thing, in English and Chinese; own
// work. The vetoes are tested with the first ones; later, third and fourth were written after the rules, which have not
// been fitted to third and fourth.
//
//go:embed pairs/*.txt
var pairFiles embed.FS

// labelledPair is two experiences and whether they say the same.
type labelledPair struct {
	class string
	a, b  federation.DedupeSide
	same  bool
}

const paraphrase = "paraphrase"

// readPairs reads a file of blocks. "# name" starts a block; "tools:" and "pre:" hold for all its texts; "=" is a wording
// of the block's experience; "! class" a text that says something else, with tools or preconditions of its own in
// brackets. All wordings are paired with each other, and each of the other texts with all wordings.
func readPairs(text string) ([]labelledPair, error) {
	var pairs []labelledPair
	var common federation.DedupeSide
	var same []federation.DedupeSide
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "# "):
			common, same = federation.DedupeSide{}, nil
		case strings.HasPrefix(line, "tools: "), strings.HasPrefix(line, "pre: "):
			setField(&common, line)
		case strings.HasPrefix(line, "= "):
			side, err := readSide(common, line[2:])
			if err != nil {
				return nil, err
			}
			for _, other := range same {
				pairs = append(pairs, labelledPair{paraphrase, other, side, true})
			}
			same = append(same, side)
		case strings.HasPrefix(line, "! "):
			class, rest, _ := strings.Cut(line[2:], " ")
			own := common
			if field, after, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && strings.HasPrefix(rest, "[") {
				setField(&own, field)
				rest = after
			}
			side, err := readSide(own, rest)
			if err != nil {
				return nil, err
			}
			for _, other := range same {
				pairs = append(pairs, labelledPair{class, other, side, false})
			}
		default:
			return nil, fmt.Errorf("%q is no line of a block", line)
		}
	}
	return pairs, lines.Err()
}

func setField(side *federation.DedupeSide, field string) {
	name, value, _ := strings.Cut(field, ": ")
	if name == "tools" {
		side.Tools = strings.Split(value, ", ")
		return
	}
	side.Preconditions = map[string]string{}
	for condition := range strings.SplitSeq(value, ", ") {
		key, wanted, _ := strings.Cut(condition, "=")
		side.Preconditions[key] = wanted
	}
}

func readSide(common federation.DedupeSide, line string) (federation.DedupeSide, error) {
	scenario, content, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "|| "), "||")
	if !ok {
		return common, fmt.Errorf("%q has no content", line)
	}
	common.Scenario, common.Content = strings.TrimSpace(scenario), strings.TrimSpace(content)
	return common, nil
}

// dedupe asks of every labelled pair whether the two would be merged.
func (r *runner) dedupe() error {
	files, err := fs.Glob(pairFiles, "pairs/*.txt")
	if err != nil {
		return err
	}
	merges, apart, splits, alike := 0, 0, 0, 0
	wrong := map[string]int{}
	for _, name := range files {
		was := [4]int{merges, apart, splits, alike}
		text, err := pairFiles.ReadFile(name)
		if err != nil {
			return err
		}
		pairs, err := readPairs(string(text))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range pairs {
			merged, err := r.merged(p.a, p.b)
			if err != nil {
				return err
			}
			if p.same {
				alike++
			} else {
				apart++
			}
			switch {
			case p.same && !merged:
				splits++
			case !p.same && merged:
				merges++
				wrong[p.class]++
			}
		}
		r.note("dedupe, %s: %d of %d that differ merged, %d of %d that say the same split", path.Base(name), merges-was[0], apart-was[1], splits-was[2], alike-was[3])
	}
	r.addShare("dedupe_false_merge", merges, apart)
	r.addShare("dedupe_false_split", splits, alike)
	r.note("dedupe: %d pairs that differ, %d that say the same; wrong merges by what differs: %v", apart, alike, wrong)
	return nil
}

// merged is the decision of the write path about a pair of texts, as if one were in the pool and the other came.
func (r *runner) merged(a, b federation.DedupeSide) (bool, error) {
	var v [4]vectors.Vector
	enc, err := encoder()
	if err != nil {
		return false, err
	}
	for i, text := range []string{a.Scenario, b.Scenario, a.Content, b.Content} {
		if v[i], err = enc.Embed(r.ctx, text); err != nil {
			return false, fmt.Errorf("embed: %w", err)
		}
	}
	profile, _ := vectors.ProfileOf(v[2].Embedder)
	return acquire.Duplicate(a, b, cosine(v[0], v[1]), cosine(v[2], v[3]), profile), nil
}

func cosine(a, b vectors.Vector) float64 {
	if c, ok := index.Cosine(a, b); ok {
		return c
	}
	return -1
}
