package federation

import (
	"strconv"
	"strings"
)

// hanDigits are the values of the characters that numbers are written with.
var hanDigits = map[rune]int{
	'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
	'十': 10, '百': 100, '千': 1000, '万': 10000, '亿': 100000000,
}

// counters are the characters that make Han digits before them a number: measures and units. A digit within a
// word (一定, 统一) has none after it.
const counters = "次个条秒分小天日周月年元块遍页名位人份倍点号步种项台件张封行列轮组岁米公毫星季时路级层"

// hanIdioms have numbers of their own or only seem to have one.
var hanIdioms = strings.NewReplacer("半个小时", "30分钟", "半小时", "30分钟", "半个月", "15天", "半年", "6个月",
	"一下", "", "万一", "")

// digits writes the numbers of Han text with Arabic digits where they count or name something: 三次 as 3次,
// 百分之五 as 5%, 第二 as 2nd, 5万 as 50000. The first and "half an hour" have their own forms.
func digits(text string) string {
	text = hanIdioms.Replace(text)
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); {
		if n := percent(&b, runes[i:]); n > 0 {
			i += n
			continue
		}
		value, n := hanNumber(runes[i:])
		ordinal := n > 0 && i > 0 && runes[i-1] == '第'
		weekday := n > 0 && i > 0 && (runes[i-1] == '周' || runes[i-1] == '期' || runes[i-1] == '拜')
		counted := i+n < len(runes) && strings.ContainsRune(counters, runes[i+n])
		switch {
		case n == 0, weekday && !counted, !ordinal && !counted:
			n = max(n, 1)
			b.WriteString(string(runes[i : i+n]))
		case ordinal:
			b.WriteString(" " + strconv.Itoa(value) + "th ")
		default:
			b.WriteString(strconv.Itoa(value))
		}
		i += n
	}
	return myriads(b.String())
}

// percent writes 百分之五 as 5%.
func percent(b *strings.Builder, runes []rune) int {
	const sign = "百分之"
	prefix := []rune(sign)
	if len(runes) <= len(prefix) || string(runes[:len(prefix)]) != sign {
		return 0
	}
	value, n := hanNumber(runes[len(prefix):])
	if n == 0 {
		return 0
	}
	b.WriteString(strconv.Itoa(value) + "% ")
	return len(prefix) + n
}

// hanNumber reads a number in Han characters at the start of runes and returns the characters it took.
func hanNumber(runes []rune) (value, n int) {
	const limit = 1 << 40
	var section, digit int
	for n < len(runes) {
		d, ok := hanDigits[runes[n]]
		if !ok || value > limit || section > limit {
			break
		}
		switch {
		case d < 10 && n > 0 && hanDigits[runes[n-1]] < 10:
			digit = digit*10 + d // read out digit by digit: 二零二七
		case d < 10:
			digit = d
		case d < 10000:
			section += max(digit, 1) * d
			digit = 0
		default:
			value = (value + section + digit) * d
			section, digit = 0, 0
		}
		n++
		if digit > limit {
			break
		}
	}
	return value + section + digit, n
}

// myriads multiplies digits out that are followed by 万 or 亿.
func myriads(text string) string {
	var b strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && runes[end] >= '0' && runes[end] <= '9' {
			end++
		}
		if end == i {
			b.WriteRune(runes[i])
			i++
			continue
		}
		b.WriteString(string(runes[i:end]))
		if end < len(runes) && end-i < 10 {
			switch runes[end] {
			case '万':
				b.WriteString("0000")
				end++
			case '亿':
				b.WriteString("00000000")
				end++
			}
		}
		i = end
	}
	return b.String()
}

// readHanDate reads 2027年5月3日, 5月3号, 5月, 10点30分 and 10点半 at a word of digits.
func (f *facts) readHanDate(tokens []token, i int) int {
	number := func(j int) (string, bool) {
		if j < len(tokens) && tokens[j].kind == tokenWord && allDigits.MatchString(tokens[j].lower) {
			return tokens[j].lower, true
		}
		return "", false
	}
	follows := func(j int, prefix string) bool {
		return j < len(tokens) && tokens[j].kind == tokenHan && strings.HasPrefix(tokens[j].text, prefix)
	}
	first, ok := number(i)
	if !ok {
		return 0
	}
	year, used := "", 0
	if len(first) == 4 && follows(i+1, "年") {
		year, used = first, 2
		if first, ok = number(i + 2); !ok || tokens[i+1].text != "年" {
			f.addDate(year, "", "")
			return 1
		}
	}
	switch {
	case follows(i+used+1, "月"):
		day, isDay := number(i + used + 2)
		if isDay && tokens[i+used+1].text == "月" && (follows(i+used+3, "日") || follows(i+used+3, "号")) {
			f.addDate(year, first, day)
			return used + 3
		}
		f.addDate(year, first, "")
		return used + 1
	case used > 0:
		f.addDate(year, "", "")
		return 1
	case follows(i+1, "点"):
		return f.readHanClock(tokens, i, first)
	}
	return 0
}

func (f *facts) readHanClock(tokens []token, i int, hour string) int {
	minute, used, after := "00", 1, tokens[i+1].text
	switch {
	case strings.HasPrefix(after, "点半"):
		minute = "30"
	case after == "点" && i+3 < len(tokens) && strings.HasPrefix(tokens[i+3].text, "分") && len(tokens[i+2].text) <= 2:
		minute, used = tokens[i+2].text, 3
	}
	f.addTime(hour, minute, i > 0 && afternoon(tokens[i-1].text))
	return used
}

// readHanDays reads weekdays and relative days within a run.
func (f *facts) readHanDays(text string) {
	runes := []rune(text)
	for i, r := range runes {
		day := strings.IndexRune("一二三四五六日天", r)
		if day < 0 || i == 0 {
			continue
		}
		prefixed := runes[i-1] == '周' || i > 1 && (string(runes[i-2:i]) == "星期" || string(runes[i-2:i]) == "礼拜")
		if !prefixed || i+1 < len(runes) && strings.ContainsRune("次个回遍", runes[i+1]) {
			continue
		}
		number := min(day/len("一")+1, 7)
		f.dates = append(f.dates, "weekday "+strconv.Itoa(number))
	}
	for _, relative := range hanRelativeDays {
		if strings.Contains(text, relative.text) {
			f.dates = append(f.dates, relative.day)
		}
	}
}

// hanOnly reports whether s is written in Han characters alone.
func hanOnly(s string) bool {
	for _, r := range s {
		if r < '\u2E80' {
			return false
		}
	}
	return s != ""
}
