package federation

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	plainNumber = regexp.MustCompile(`^#?([$€£¥]?)([+\-]?)(\d+(?:\.\d+)?)([a-z%×]*)$`)
	rangeNumber = regexp.MustCompile(`^([$€£¥]?)(\d+(?:\.\d+)?)(?:-|~|\.\.)(\d+(?:\.\d+)?)([a-z%]*)$`)
	hyphenated  = regexp.MustCompile(`^(\d+(?:\.\d+)?|[a-z]+)-([a-z]+)(?:-[a-z]+)?$`)
	ordinal     = regexp.MustCompile(`^(\d+)(st|nd|rd|th)$`)
	clockTime   = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::\d{2})?(am|pm)?$`)
	clockHour   = regexp.MustCompile(`^(\d{1,2})(am|pm)$`)
	isoDate     = regexp.MustCompile(`^(\d{4})[\-/](\d{1,2})[\-/](\d{1,2})(?:t.*)?$`)
	slashDate   = regexp.MustCompile(`^\d{1,2}[/.\-]\d{1,2}[/.\-]\d{2,4}$`)
	allDigits   = regexp.MustCompile(`^\d+$`)
)

// readNumber reads a number with its unit at tokens[i] and returns how many tokens it took, 0 for none.
func (f *facts) readNumber(tokens []token, i int) int {
	t := tokens[i]
	if t.kind != tokenWord {
		return 0
	}
	if m := ordinal.FindStringSubmatch(t.lower); m != nil {
		f.addOrdinal(m[1])
		return 1
	}
	if m := rangeNumber.FindStringSubmatch(t.lower); m != nil {
		unit, n := unitAfter(tokens, i+1, m[4], m[1])
		f.addNumber(m[2], unit)
		f.addNumber(m[3], unit)
		return 1 + n
	}
	if m := plainNumber.FindStringSubmatch(t.lower); m != nil && knownSuffix(m[4]) {
		unit, n := unitAfter(tokens, i+1, m[4], m[1])
		f.addNumber(strings.TrimPrefix(m[2], "+")+scaled(m[3], m[4]), unit)
		return 1 + n
	}
	if m := hyphenated.FindStringSubmatch(t.lower); m != nil {
		value, ok := m[1], allDigits.MatchString(m[1])
		if n, spelled := numberWords[m[1]]; spelled {
			value, ok = strconv.Itoa(n), true
		}
		if unit, known := units[m[2]]; ok && known {
			f.addNumber(value, unit)
			return 1
		}
	}
	return f.readSpelled(tokens, i)
}

// readSpelled reads "two", "twenty-five", "one hundred", "half an hour" and "a week".
func (f *facts) readSpelled(tokens []token, i int) int {
	word := tokens[i].lower
	switch {
	case word == "half":
		for _, skip := range []int{2, 1} {
			if i+skip < len(tokens) {
				if unit, ok := units[tokens[i+skip].lower]; ok && unit.seconds > 0 {
					f.addNumber("0.5", unit)
					return skip + 1
				}
			}
		}
		return 0
	case word == "quarter" && i+3 < len(tokens) && tokens[i+1].lower == "of" && tokens[i+3].lower == "hour":
		f.addNumber("15", units["minutes"])
		return 4
	case word == "a" || word == "an":
		if i+1 < len(tokens) {
			if unit, ok := units[tokens[i+1].lower]; ok && unit.seconds > 0 {
				f.addNumber("1", unit)
				return 2
			}
		}
		return 0
	case word == "once":
		return 0
	case word == "twice":
		f.addNumber("2", unitOf{})
		return 1
	case ordinalWords[word] > 1 && (word != "second" || i > 0 && determiners[tokens[i-1].lower]):
		f.addOrdinal(strconv.Itoa(ordinalWords[word]))
		return 1
	}
	value, n := spelled(tokens[i:])
	if n == 0 {
		return 0
	}
	unit, more := unitAfter(tokens, i+n, "", "")
	f.addNumber(strconv.Itoa(value), unit)
	return n + more
}

// spelled reads the words of a number below a million.
func spelled(tokens []token) (value, n int) {
	for n < len(tokens) && tokens[n].kind == tokenWord {
		parts := strings.Split(tokens[n].lower, "-")
		for _, part := range parts {
			number, ok := numberWords[part]
			switch {
			case !ok && part == "and" && n > 0 && n+1 < len(tokens) && value >= 100 && numberWords[tokens[n+1].lower] > 0:
			case !ok:
				return value, n
			case number == 100 || number == 1000:
				value = max(value, 1) * number
			default:
				value += number
			}
		}
		n++
	}
	return value, n
}

// unitOf is a unit in its canonical form: a name, and for times up to weeks the seconds.
type unitOf struct {
	name    string
	seconds float64
}

// unitAfter finds the unit of a number: its own suffix, a sign before it, or the next token.
func unitAfter(tokens []token, next int, suffix, sign string) (unitOf, int) {
	if unit, ok := units[suffix]; ok {
		return unit, 0
	}
	if sign != "" {
		return units[sign], 0
	}
	if next >= len(tokens) {
		return unitOf{}, 0
	}
	t := tokens[next]
	if t.kind == tokenHan {
		return hanUnit(t.text), 0
	}
	if (t.lower == "business" || t.lower == "working") && next+1 < len(tokens) && strings.HasPrefix(tokens[next+1].lower, "day") {
		return unitOf{name: "business day"}, 2
	}
	if unit, ok := units[t.lower]; ok {
		return unit, 1
	}
	return unitOf{}, 0
}

func hanUnit(text string) unitOf {
	text = strings.TrimPrefix(text, "多")
	for _, unit := range hanUnits {
		if strings.HasPrefix(text, unit.text) {
			return unit.unit
		}
	}
	return unitOf{}
}

// knownSuffix reports whether letters written onto a number are a unit or a multiplier. Otherwise the word is
// an identifier.
func knownSuffix(suffix string) bool {
	_, unit := units[suffix]
	return suffix == "" || unit || suffix == "k" || suffix == "x" || suffix == "×"
}

func scaled(value, suffix string) string {
	if suffix != "k" {
		return value
	}
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return strconv.FormatFloat(number*1000, 'f', -1, 64)
}

// addNumber stores a number in its canonical form. Times become seconds, so that 24 hours are a day. A number
// without unit keeps its digits: 3.10 is a version and not 3.1.
func (f *facts) addNumber(value string, unit unitOf) {
	name := unit.name
	if number, err := strconv.ParseFloat(value, 64); err == nil && name != "" {
		if unit.seconds > 0 {
			number, name = number*unit.seconds, "s"
		}
		// A single thing of a kind is often left unsaid.
		soft := value == "1"
		value = strconv.FormatFloat(number, 'f', -1, 64)
		if soft {
			f.soft = append(f.soft, value+"|"+name)
			return
		}
	}
	if value == "1" {
		f.soft = append(f.soft, "1|")
		return
	}
	f.hard = append(f.hard, trimZeros(value)+"|"+name)
}

// trimZeros drops zeros before a number, as in 05.
func trimZeros(value string) string {
	trimmed := strings.TrimLeft(value, "0")
	if trimmed == "" || trimmed[0] == '.' {
		return "0" + trimmed
	}
	return trimmed
}

// addOrdinal stores the second, third and so on as numbers: the third column is column three. The first is
// everywhere and is left out.
func (f *facts) addOrdinal(value string) {
	if value = trimZeros(value); value != "1" {
		f.addNumber(value, unitOf{})
	}
}

// numbersDiffer reports whether a number of one side is not said by the other. What may be left out must only
// not contradict.
func numbersDiffer(a, b facts) bool {
	all := func(f facts) []string { return append(append([]string{}, f.hard...), f.soft...) }
	if lacks(a.hard, all(b)) || lacks(b.hard, all(a)) {
		return true
	}
	lone := func(f facts, other []string) bool {
		for _, number := range f.soft {
			if number != "1|" && lacks([]string{number}, other) {
				return true
			}
		}
		return false
	}
	return lone(a, all(b)) && lone(b, all(a))
}

// readDate reads a date or time at tokens[i] and returns how many tokens it took, 0 for none.
func (f *facts) readDate(tokens []token, i int) int {
	t := tokens[i]
	if t.kind == tokenMark {
		return 0
	}
	if t.kind == tokenHan {
		f.readHanDays(t.text)
		return 0
	}
	if m := isoDate.FindStringSubmatch(t.lower); m != nil {
		f.addDate(m[1], m[2], m[3])
		return 1
	}
	if slashDate.MatchString(t.lower) {
		f.dates = append(f.dates, t.lower)
		return 1
	}
	if n := f.readClock(tokens, i); n > 0 {
		return n
	}
	if n := f.readHanDate(tokens, i); n > 0 {
		return n
	}
	if day, ok := weekdays[strings.TrimSuffix(t.lower, "s")]; ok {
		f.dates = append(f.dates, fmt.Sprintf("weekday %d", day))
		return 1
	}
	if relativeDays[t.lower] != "" {
		f.dates = append(f.dates, relativeDays[t.lower])
		return 1
	}
	return f.readMonth(tokens, i)
}

func (f *facts) addDate(year, month, day string) {
	f.dates = append(f.dates, fmt.Sprintf("%s-%s-%s", year, strings.TrimLeft(month, "0"), strings.TrimLeft(day, "0")))
}

// readClock reads 10:00, 10:00 am, 3pm and 3 p.m.
func (f *facts) readClock(tokens []token, i int) int {
	t, half, used := tokens[i], "", 1
	if i+1 < len(tokens) {
		if next := strings.ReplaceAll(tokens[i+1].lower, ".", ""); next == "am" || next == "pm" {
			half, used = next, 2
		}
	}
	hour, minute := "", "00"
	if m := clockTime.FindStringSubmatch(t.lower); m != nil {
		hour, minute = m[1], m[2]
		half += m[3]
	} else if m := clockHour.FindStringSubmatch(t.lower); m != nil {
		hour, half = m[1], m[2]
	} else if half != "" && allDigits.MatchString(t.lower) {
		hour = t.lower
	} else {
		return 0
	}
	if i > 0 && afternoon(tokens[i-1].text) {
		half = "pm"
	}
	f.addTime(hour, minute, half == "pm")
	return used
}

func (f *facts) addTime(hour, minute string, late bool) {
	h, err := strconv.Atoi(hour)
	if err != nil {
		return
	}
	if late && h < 12 {
		h += 12
	}
	f.dates = append(f.dates, fmt.Sprintf("%02d:%s", h, minute))
}

func afternoon(han string) bool {
	return strings.HasSuffix(han, "下午") || strings.HasSuffix(han, "晚上") || strings.HasSuffix(han, "傍晚")
}

// readMonth reads 3 May 2027, May 3, 2027, May 2027 and May.
func (f *facts) readMonth(tokens []token, i int) int {
	at := func(j int) string {
		if j < len(tokens) {
			return tokens[j].lower
		}
		return ""
	}
	day := dayNumber(at(i))
	if day != "" && months[at(i+1)] > 0 {
		f.addDate(yearNumber(at(i+2)), strconv.Itoa(months[at(i+1)]), day)
		return 2 + presence(yearNumber(at(i+2)))
	}
	month := months[at(i)]
	if month == 0 || (at(i) == "may" || at(i) == "march") && (tokens[i].first || tokens[i].text == at(i)) && dayNumber(at(i+1)) == "" {
		return 0 // may and march are verbs too
	}
	used := 1
	if day = dayNumber(at(i + used)); day != "" {
		used++
		if at(i+used) == "," && yearNumber(at(i+used+1)) != "" {
			used++
		}
	}
	year := yearNumber(at(i + used))
	f.addDate(year, strconv.Itoa(month), day)
	return used + presence(year)
}

func presence(s string) int { return min(len(s), 1) }

// dayNumber returns the digits of 3 and 3rd when they can be the day of a month.
func dayNumber(s string) string {
	if m := ordinal.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	if n, err := strconv.Atoi(s); err != nil || n < 1 || n > 31 || len(s) > 2 {
		return ""
	}
	return s
}

func yearNumber(s string) string {
	if len(s) == 4 && allDigits.MatchString(s) && (s[0] == '1' || s[0] == '2') {
		return s
	}
	return ""
}
