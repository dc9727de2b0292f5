package acquire

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// layout is one way to write a date: its name in a placeholder and Go's reference form.
type layout struct{ name, form string }

// layouts in order of preference where a value fits several.
var layouts = []layout{
	{"YYYY-MM-DD", "2006-01-02"},
	{"YYYY/MM/DD", "2006/01/02"},
	{"YYYYMMDD", "20060102"},
	{"DD.MM.YYYY", "02.01.2006"},
	{"DD/MM/YYYY", "02/01/2006"},
	{"MM/DD/YYYY", "01/02/2006"},
	{"DD-MM-YYYY", "02-01-2006"},
	{"MM-DD-YYYY", "01-02-2006"},
	{"D.M.YYYY", "2.1.2006"},
	{"D/M/YYYY", "2/1/2006"},
	{"M/D/YYYY", "1/2/2006"},
	{"D Month YYYY", "2 January 2006"},
	{"Month D, YYYY", "January 2, 2006"},
	{"D Mon YYYY", "2 Jan 2006"},
	{"Mon D, YYYY", "Jan 2, 2006"},
	{"D Month", "2 January"},
	{"Month D", "January 2"},
	{"YYYY年M月D日", "2006年1月2日"},
	{"M月D日", "1月2日"},
}

// taskDate is a date as the task writes it. year is 0 when the task does not say.
type taskDate struct {
	start, end       int
	year, month, day int
}

const months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

var datePatterns = []struct {
	re   *regexp.Regexp
	read func(parts []string) (y, m, d string)
}{
	{regexp.MustCompile(`\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})\b`), func(p []string) (string, string, string) { return p[1], p[2], p[3] }},
	{regexp.MustCompile(`\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b`), func(p []string) (string, string, string) { return p[3], p[2], p[1] }},
	{regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`), func(p []string) (string, string, string) { return p[3], p[2], p[1] }},
	{regexp.MustCompile(`\b(\d{1,2})/(\d{1,2})/(\d{4})\b`), func(p []string) (string, string, string) { return p[3], p[1], p[2] }},
	{regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? (` + months + `)\b\.?,?(?: (\d{4})\b)?`), func(p []string) (string, string, string) { return p[3], p[2], p[1] }},
	{regexp.MustCompile(`(?i)\b(` + months + `)\.? (\d{1,2})(?:st|nd|rd|th)?\b(?:,? (\d{4})\b)?`), func(p []string) (string, string, string) { return p[3], p[1], p[2] }},
	{regexp.MustCompile(`(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]`), func(p []string) (string, string, string) { return p[1], p[2], p[3] }},
}

// datesIn finds the dates of a task in order of position; one that can be read in two ways appears twice.
func datesIn(task string) []taskDate {
	var found []taskDate
	for _, pattern := range datePatterns {
		for _, at := range pattern.re.FindAllStringSubmatchIndex(task, -1) {
			parts := make([]string, len(at)/2)
			for i := range parts {
				if at[2*i] >= 0 {
					parts[i] = task[at[2*i]:at[2*i+1]]
				}
			}
			y, m, d := pattern.read(parts)
			if date, ok := newDate(y, m, d); ok {
				date.start, date.end = at[0], at[1]
				found = append(found, date)
			}
		}
	}
	return found
}

func newDate(y, m, d string) (taskDate, bool) {
	month, err := strconv.Atoi(m)
	if err != nil {
		month = monthOf(m)
	}
	day, _ := strconv.Atoi(d)
	year, _ := strconv.Atoi(y)
	return taskDate{year: year, month: month, day: day}, month >= 1 && month <= 12 && day >= 1 && day <= 31
}

func monthOf(name string) int {
	name = strings.ToLower(name)
	for m := time.January; m <= time.December; m++ {
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(m.String()), name[:3]) {
			return int(m)
		}
	}
	return 0
}

// rewritten reports that value is one of the task's dates in another layout, and which.
func rewritten(value string, dates []taskDate) (date taskDate, name string, ok bool) {
	if len(value) < 5 || len(value) > 24 {
		return taskDate{}, "", false
	}
	for _, l := range layouts {
		t, err := time.Parse(l.form, value)
		if err != nil {
			continue
		}
		for _, d := range dates {
			if int(t.Month()) == d.month && t.Day() == d.day && (d.year == 0 || t.Year() == 0 || t.Year() == d.year) {
				return d, l.name, true
			}
		}
	}
	return taskDate{}, "", false
}
