package acquire

import (
	"math"
	"slices"
	"testing"

	"cairn/federation"
)

func TestNormalise(t *testing.T) {
	for _, tc := range []struct {
		name      string
		reward    float64
		scale     [2]float64
		threshold float64
		score     float64
		success   bool
	}{
		{"unit", 1, [2]float64{0, 1}, 1, 1, true},
		{"below", .99, [2]float64{0, 1}, 1, .99, false},
		{"threshold of the task type", .6, [2]float64{0, 1}, .6, .6, true},
		{"sum of floats", .1 + .2, [2]float64{0, 1}, .3, .1 + .2, true},
		{"negative scale", 0, [2]float64{-1, 1}, .5, .5, true},
		{"outside is clamped", 7, [2]float64{0, 5}, 0, 1, true},
		{"no extent", .5, [2]float64{2, 2}, 0, .5, false},
		{"not a number", math.NaN(), [2]float64{0, 1}, 0, 0, false},
		{"infinite scale", .5, [2]float64{math.Inf(-1), 1}, 0, .5, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			score, success := Normalise(tc.reward, tc.scale, tc.threshold)
			if score != tc.score || success != tc.success {
				t.Errorf("got %v %v, want %v %v", score, success, tc.score, tc.success)
			}
		})
	}
}

func TestStepCredits(t *testing.T) {
	half := .5
	given := StepCredits(Attempt{Score: 1, Steps: []Step{{Reward: &half}, {}}})
	if want := []float64{.5, 0}; !slices.Equal(given, want) {
		t.Errorf("given rewards: got %v, want %v", given, want)
	}
	faded := StepCredits(Attempt{Score: 1, Steps: []Step{{Observation: "ok"}, {Observation: "error: 404"}, {Observation: "ok"}}})
	if want := []float64{.95 * .95, 0, 1}; !slices.Equal(faded, want) {
		t.Errorf("discounted: got %v, want %v", faded, want)
	}
}

func TestComposite(t *testing.T) {
	parts := map[string]float64{"resolved": 1, "turns": .5, "sentiment": math.NaN()}
	for _, tc := range []struct {
		name    string
		weights map[string]float64
		want    float64
		ok      bool
	}{
		{"equal", nil, .75, true},
		{"weighted", map[string]float64{"resolved": 3, "turns": 1}, .875, true},
		{"only what has a weight", map[string]float64{"turns": 2}, .5, true},
		{"nothing counts", map[string]float64{"sentiment": 1, "other": 1}, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := Composite(parts, tc.weights); got != tc.want || ok != tc.ok {
				t.Errorf("got %v %v, want %v %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestIsError(t *testing.T) {
	for _, s := range []string{
		"Error: no such user", "error executing query: x", "429 Too Many Requests", "HTTP 503", "HTTP/1.1 404 Not Found", "{\"error\": \"bad date\"}",
		"bash: foo: command not found", "Permission denied", "Traceback (most recent call last):\n  x", "ModuleNotFoundError: No module named x",
		"ls: cannot access 'x': No such file or directory", "401 not signed in", "错误：未登录", "文件不存在", "login required", "Request timed out",
		"Invalid date", "Unknown column 'x' in 'field list'",
	} {
		if !isError(s) {
			t.Errorf("%q is an error", s)
		}
	}
	for _, s := range []string{
		"", "ok", "3 flights found", "[(510.333333, Decimal('329000'))]", "{'output': '', 'error': ''}", "{\"error\": null, \"items\": []}", "0 errors, 3 warnings",
		"Compiled without errors", "no errors found", "500 results", "登录成功", "order 4041 shipped", "signed in",
	} {
		if isError(s) {
			t.Errorf("%q is no error", s)
		}
	}
}

func TestRewritten(t *testing.T) {
	for _, tc := range []struct{ task, value, want string }{
		{"on 3 May 2027", "2027-05-03", "YYYY-MM-DD"},
		{"on May 3rd, 2027", "03.05.2027", "DD.MM.YYYY"},
		{"on 3 May", "2027-05-03", "YYYY-MM-DD"},
		{"on 2027-05-13", "05/13/2027", "MM/DD/YYYY"},
		{"于2027年5月3日", "20270503", "YYYYMMDD"},
		{"on 03/05/2027", "2027-03-05", "YYYY-MM-DD"},
		{"on 3 May 2027", "2027-05-04", ""},
		{"on 3 May 2027", "2026-05-03", ""},
		{"version 1.2.3", "2027-05-03", ""},
		{"on 40/13/2027", "2027-05-03", ""},
	} {
		if _, got, _ := rewritten(tc.value, datesIn(tc.task)); got != tc.want {
			t.Errorf("%q of %q: got %q, want %q", tc.value, tc.task, got, tc.want)
		}
	}
}

func TestJudge(t *testing.T) {
	g := parseGroup(t, "task Restore volume mail\nattempt 1\nrestore {\"volume\":\"mail\"} => restored\n")
	drafts, _ := Distil(g)
	good := drafts[0]
	change := func(f func(*Draft)) Draft {
		d := good
		f(&d)
		return d
	}
	for _, tc := range []struct {
		name    string
		draft   Draft
		nearest float64
		profile string
		reason  string
	}{
		{"good", good, 0, "", ""},
		{"a copy is merged, not refused", good, 1, ProfileStrict, ""},
		{"unknown tool", change(func(d *Draft) { d.Tools = []string{"format_disk"} }), 0, "", "accuracy"},
		{"no action", change(func(d *Draft) { d.Content = "The weather was fine today." }), 0, "", "actionability"},
		{"template", change(func(d *Draft) { d.Content = "Call {{tool}} with `x`." }), 0, "", "clarity"},
		{"empty", change(func(d *Draft) { d.Content = "" }), 0, "", "actionability"},
		{"no scenario", change(func(d *Draft) { d.Scenario = " " }), 0, "", "relevance"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			v := Judge(tc.draft, g, tc.nearest, tc.profile)
			if v.Reason != tc.reason || v.Admit != (tc.reason == "") {
				t.Errorf("got %+v, want reason %q", v, tc.reason)
			}
		})
	}
}

func TestJudgeThresholds(t *testing.T) {
	for _, tc := range []struct {
		profile string
		kind    federation.Kind
		want    float64
	}{
		{"", federation.KindSuccess, .3}, {ProfileStrict, federation.KindSuccess, .6}, {ProfileStrict, federation.KindContrast, .5},
		{ProfileStrict, federation.KindReflection, .4}, {ProfileStrict, federation.KindToolUse, .5},
	} {
		if got := threshold(tc.profile, tc.kind); got != tc.want {
			t.Errorf("%s %s: got %v, want %v", tc.profile, tc.kind, got, tc.want)
		}
	}
}

func TestPieces(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		has, lacks []string
	}{
		{"shell", "sudo find . -type f -name '*.php' | xargs -0 wc -l", []string{"sudo", "find", "find -type", "find |", "wc", "wc -l", "'*.php'"}, []string{"|", "f"}},
		{"exec", `find . -exec wc -l {} \;`, []string{"find -exec", "wc", "wc -l"}, nil},
		{"fenced", "```bash\nls -a\n```", []string{"ls", "ls -a"}, []string{"```bash"}},
		{"query", "SELECT name, COUNT(DISTINCT x) FROM t1 JOIN t2 ON t1.a_id = t2.id GROUP BY name ORDER BY name DESC LIMIT 1",
			[]string{"t1", "t2", "JOIN", "GROUP BY", "ORDER BY", "DESC", "LIMIT", "COUNT(DISTINCT", "a_id"}, []string{"LEFT JOIN", "DESCRIBE"}},
		{"describe", "DESC cars_data", []string{"cars_data", "DESCRIBE"}, []string{"DESC"}},
		{"program", "def f(x):\n    return sorted(set(x))", []string{"sorted(", "set(", "return"}, nil},
		{"nothing", "", nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := pieces(tc.text)
			for _, p := range tc.has {
				if !slices.Contains(got, p) {
					t.Errorf("%q lacks %q", got, p)
				}
			}
			for _, p := range tc.lacks {
				if slices.Contains(got, p) {
					t.Errorf("%q has %q", got, p)
				}
			}
		})
	}
}

func TestQueryNames(t *testing.T) {
	for _, tc := range []struct {
		text string
		want []string
	}{
		{"SELECT AVG(horsepower) FROM cars_data WHERE year < 1980", []string{"horsepower", "cars_data", "year"}},
		{"select o.Year_of_Founded from orchestra o join performance as p on o.id = p.oid where x = 'from y' group by o.id", []string{"year_of_founded", "orchestra", "performance", "id", "oid"}},
		{"SELECT COUNT(*) AS total FROM pets ORDER BY total", []string{"pets"}},
		{"find . -name x", nil},
		{"", nil},
	} {
		if got := queryNames(tc.text); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.text, got, tc.want)
		}
	}
}

// TestKeyStep: the action an experience names is the step that made the difference, not the last one.
func TestKeyStep(t *testing.T) {
	drafts, _ := Distil(parseGroup(t, `task Restore volume mail
attempt 1
list {"volume":"mail"} => 2
restore {"volume":"mail","point":"previous"} => restored
notify {"team":"ops"} => sent
attempt 0
list {"volume":"mail"} => 2
restore {"volume":"mail","point":"latest"} => restored
notify {"team":"ops"} => sent
`))
	if want := `restore(point="previous", volume=<volume>)`; drafts[0].Action != want {
		t.Errorf("action %q, want %q", drafts[0].Action, want)
	}
	rewarded, _ := Distil(parseGroup(t, `task Restore volume mail
attempt 1
find {"volume":"mail"} @0.7 => found
restore {"volume":"mail"} @0.3 => restored
`))
	if want := "find(volume=<volume>)"; rewarded[0].Action != want {
		t.Errorf("action %q, want %q", rewarded[0].Action, want)
	}
}
