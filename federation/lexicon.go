package federation

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
)

// set makes a set of the words of a list.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// stopWords carry no content of their own.
var stopWords = set(`a an the this that these those it its is are was were be been being am do does did has have had
	will would shall should can could may might must to of in on at by for with as and or so also just very much more most
	i you he she they we me him her them us my your his their our if then when while there here which who whom whose what how
	why where than too into onto from up out off over about again any some all each every such both either other another
	only own same s t d ll re ve one once please e.g i.e etc via per upon within during its'`)

// starters begin sentences so often that their capital says nothing.
var starters = set(`use using call check verify make set get run try retry wait pause sleep stop start keep read write look
	search find choose select pick pass send give take put add remove delete create open close enable disable switch turn
	increase decrease raise lower sort order group count compare confirm validate ensure avoid never always before after
	until unless without with whenever first second third then next finally last however instead otherwise since because
	although though not no nothing none many few several most customer customers user users agent agents client task tasks
	flight flights booking bookings search results result pages page paged api apis file files data database request
	requests response responses error errors failed failure failures failing success successful test tests service services
	question reviewing review reviewed number numbers date dates time times day days show answer ask tell write return
	returns loop repeat regenerate deploy deployment copy restart branch cherry plan travelling traveling travel expect
	economy business free too large small big uploads upload downloads download snow where only build builds install
	installing fetch identify determine research list provide include includes consider apply follow handle implement
	prefer break split divide multiply convert parse extract load save store update upgrade move transfer note notice
	remember acknowledge offer explain describe reply respond log login sign authenticate authorize enter click type
	submit cancel refund pay buy sell book reserve schedule reschedule invite share review approve reject escalate during
	given once every any each one two three four five six seven eight nine ten low high new old current previous good bad
	invoice invoices meeting meetings report reports payment payments message messages email emails document documents
	lunch team large too packages package quarterly money switch traffic observe watch abort increase extend widen was were
	has have does did please yes correct incorrect invalid valid missing empty required optional default`)

// commonAcronyms stand for things in general; a paraphrase may do without them.
var commonAcronyms = set(`api apis http https url urls uri sql id ids ui cli ok llm ai rest sdk faq eta`)

var determiners = set(`the every each its their his her my your our this that`)

// numberWords are the words that numbers are made of.
var numberWords = map[string]int{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
	"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
	"eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "dozen": 12,
}

var ordinalWords = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
	"tenth": 10,
}

var units = func() map[string]unitOf {
	m := map[string]unitOf{}
	for _, u := range []struct {
		names string
		unit  unitOf
	}{
		{"ms msec millisecond milliseconds", unitOf{"time", .001}},
		{"s sec secs second seconds", unitOf{"time", 1}},
		{"min mins minute minutes", unitOf{"time", 60}},
		{"h hr hrs hour hours", unitOf{"time", 3600}},
		{"d day days night nights", unitOf{"time", 86400}},
		{"w week weeks", unitOf{"time", 604800}},
		{"month months", unitOf{"month", 0}},
		{"y yr yrs year years", unitOf{"year", 0}},
		{"% percent pct", unitOf{"%", 0}},
		{"b byte bytes", unitOf{"byte", 0}},
		{"kb kib kilobyte kilobytes", unitOf{"kb", 0}},
		{"mb mib megabyte megabytes", unitOf{"mb", 0}},
		{"gb gib gigabyte gigabytes", unitOf{"gb", 0}},
		{"tb tib terabyte terabytes", unitOf{"tb", 0}},
		{"$ usd dollar dollars", unitOf{"usd", 0}},
		{"€ eur euro euros", unitOf{"eur", 0}},
		{"£ gbp pound pounds", unitOf{"gbp", 0}},
		{"¥ cny rmb yuan", unitOf{"cny", 0}},
		{"km kilometre kilometres kilometer kilometers", unitOf{"km", 0}},
		{"m metre metres meter meters", unitOf{"m", 0}},
		{"mile miles", unitOf{"mile", 0}},
		{"kg kilogram kilograms", unitOf{"kg", 0}},
		{"g gram grams", unitOf{"g", 0}},
		{"token tokens", unitOf{"token", 0}},
	} {
		for name := range strings.FieldsSeq(u.names) {
			m[name] = u.unit
		}
	}
	return m
}()

// hanUnits are the units that may follow a number in Han text; those with a common beginning longest first.
var hanUnits = []struct {
	text string
	unit unitOf
}{
	{"毫秒", unitOf{"time", .001}}, {"秒", unitOf{"time", 1}}, {"分钟", unitOf{"time", 60}},
	{"个小时", unitOf{"time", 3600}}, {"小时", unitOf{"time", 3600}}, {"个钟头", unitOf{"time", 3600}},
	{"个工作日", unitOf{"business day", 0}}, {"工作日", unitOf{"business day", 0}},
	{"天", unitOf{"time", 86400}}, {"日", unitOf{"time", 86400}}, {"晚", unitOf{"time", 86400}},
	{"个星期", unitOf{"time", 604800}}, {"星期", unitOf{"time", 604800}}, {"周", unitOf{"time", 604800}},
	{"个月", unitOf{"month", 0}}, {"年", unitOf{"year", 0}},
	{"元", unitOf{"cny", 0}}, {"块", unitOf{"cny", 0}}, {"美元", unitOf{"usd", 0}}, {"欧元", unitOf{"eur", 0}},
	{"公里", unitOf{"km", 0}}, {"千米", unitOf{"km", 0}}, {"公斤", unitOf{"kg", 0}}, {"米", unitOf{"m", 0}},
}

var weekdays = func() map[string]int {
	m := map[string]int{}
	for i, names := range []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"} {
		m[names] = i + 1
	}
	return m
}()

var months = map[string]int{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9,
	"october": 10, "november": 11, "december": 12, "jan": 1, "feb": 2, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
	"sept": 9, "oct": 10, "nov": 11, "dec": 12,
}

var relativeDays = map[string]string{
	"today": "today", "tonight": "today", "tomorrow": "tomorrow", "yesterday": "yesterday",
}

var hanRelativeDays = []struct{ text, day string }{
	{"今天", "today"}, {"今日", "today"}, {"明天", "tomorrow"}, {"明日", "tomorrow"}, {"昨天", "yesterday"},
	{"昨日", "yesterday"}, {"后天", "in two days"}, {"前天", "two days ago"},
}

// hanSurnames are the characters that stand before a form of address in names.
const hanSurnames = `王|李|张|刘|陈|杨|黄|赵|吴|周|徐|孙|马|朱|胡|郭|何|高|林|罗|郑|梁|谢|宋|唐|许|韩|冯|邓|曹|彭|曾|肖|田|董|袁|潘|于|蒋|蔡|余|杜|叶|程|苏|魏|吕|丁|任|沈|姚|卢|姜|崔|钟|谭|陆|汪|范|金|石|廖|贾|夏|韦|付|方|白|邹|孟|熊|秦|邱|江|尹|薛|闫|段|雷|侯|龙|史|陶|黎|贺|顾|毛|郝|龚|邵|万|钱|严|覃|武|戴|莫|孔|向|汤|欧阳|司马|诸葛`

// hanParticles are characters that a paraphrase adds and drops at will.
var hanParticles = func() map[rune]bool {
	m := map[rune]bool{}
	for _, r := range "的了就再先把将请并且和与在时后要需会可以能已也都则于给对被由向为是有个之" {
		m[r] = true
	}
	return m
}()

// englishPhrases are the words and phrases with a part in negation and order. A phrase with an empty text is
// read over: it looks like a negation and is none.
var englishPhrases = func() map[string]sentenceUnit {
	m := map[string]sentenceUnit{}
	add := func(unit sentenceUnit, phrases string) {
		for phrase := range strings.SplitSeq(phrases, "|") {
			m[phrase] = unit
		}
	}
	add(sentenceUnit{unitWord, ""}, "no result|no results|not found|no matches|at once|all at once|once more|no such|not only|no matter|no later than|"+
		"no more than|no less than|no fewer than|if not|or not|why not|nothing was found|no fee|no charge|no cost|"+
		"not more than|not less than|not later than|no doubt|no flights|free of charge|nothing is found|no longer than")
	add(sentenceUnit{unitNot, "not"}, "not|never|no|cannot|cant|dont|doesnt|didnt|wont|isnt|arent|wasnt|werent|shouldnt|"+
		"mustnt|couldnt|wouldnt|hasnt|havent|hadnt|neednt|neither|nor|avoid|avoids|avoiding|forbid|forbidden|prohibited|ignore|"+
		"ignores|ignoring|skip|skips|skipping|must not|do not|does not|should not|may not|can not|no longer|refrain from|"+
		"keep out of|out of reach|not yet|non")
	add(sentenceUnit{unitWeak, "instead"}, "instead of|rather than|in place of|otherwise|or else|else|fails|fail|failed|"+
		"failing|unable|refuse|refuses|refused|reject|rejects|rejected|except|lack|lacks|instead|break off|breaks off|"+
		"unavailable|impossible|prevent|prevents")
	add(sentenceUnit{unitLink, "without"}, "without")
	add(sentenceUnit{unitLink, "before"}, "before|prior to|ahead of")
	add(sentenceUnit{unitLink, "after"}, "after|following|only after|once|as soon as")
	add(sentenceUnit{unitLink, "then"}, "then|and then|afterwards|afterward|after that|before anything else|thereafter|next")
	add(sentenceUnit{unitLink, "until"}, "until|till")
	add(sentenceUnit{unitLink, "unless"}, "unless")
	add(sentenceUnit{unitLink, "only"}, "only if|only when|only once|only with")
	add(sentenceUnit{unitLink, "first"}, "first|at first")
	add(sentenceUnit{unitLink, "if"}, "if|when|whenever|in case")
	add(sentenceUnit{unitLink, "from"}, "from")
	add(sentenceUnit{unitLink, "to"}, "to|into|onto")
	add(sentenceUnit{unitComma, ","}, "but|however|while|whereas")
	return m
}()

type hanPhrase struct {
	text string
	unit sentenceUnit
}

// hanPhrases are the same for Han, longest first.
var hanPhrases = func() (list []hanPhrase) {
	add := func(unit sentenceUnit, phrases string) {
		for phrase := range strings.FieldsSeq(phrases) {
			list = append(list, hanPhrase{phrase, unit})
		}
	}
	add(sentenceUnit{unitWord, ""}, `没有结果 没有返回结果 无结果 没有返回 没结果 找不到 没有找到 未找到 不超过 不少于 不足 不多于 不低于 不高于 不同 不断
		不过 不仅 不但 不只 不管 不论 无论 不久 不错 不止 不收费 无手续费 不收取 免费 特别 区别 分别 类别 级别 性别 别的 别人 识别 非常 未来 对不起 差不多
		不一定 不满 无人 是否 能否 前提 目前 当前 前面 前端 后端 后台 最后 落后 后续 后果 提前 先生 优先 首先 先进 以免 免得 难免 不免 到达 达到 收到 遇到 查到 看到 得到 直到 传到
		到期 甚至 以至 至少 至多 再次 再见 刚才 人才 之间 无效 无线 从而 从事 自从 从不 转向 未知 然而 天前 天后 小时前 小时后 分钟前 分钟后 周前 周后 星期前 个月前 个月后 年前`)
	add(sentenceUnit{unitNot, "not"}, `免 不要 不能 不可 不得 不应 不用 无需 无须 不必 不会 切勿 请勿 勿 别 禁止 严禁 避免 没有 没 未 不 忽略 跳过 并非 不再 从不 绝不 千万别`)
	add(sentenceUnit{unitWeak, "instead"}, `否则 不然 而不是 而非 代替 无法 失败 拒绝 缺少 中断 出错 报错 不接受 不上去 不上 不了 不到 不出 不通 不动`)
	add(sentenceUnit{unitLink, "earlier"}, `之前 以前 前`)
	add(sentenceUnit{unitLink, "later"}, `之后 以后 后`)
	add(sentenceUnit{unitLink, "then"}, `再 然后 接着 随后 才 才能 才可以 再去`)
	add(sentenceUnit{unitLink, "required"}, `除非 未经 没经过`)
	add(sentenceUnit{unitLink, "if"}, `如果 若 当 假如 要是`)
	add(sentenceUnit{unitLink, "from"}, `从 由 基于 自`)
	add(sentenceUnit{unitLink, "to"}, `转到 转至 转入 合入 合并到 合并进 迁移到 移到 复制到 到 至 往`)
	slices.SortStableFunc(list, func(a, b hanPhrase) int { return cmp.Compare(len(b.text), len(a.text)) })
	return list
}()

// synonymGroup gives words of one meaning, as stems or single Han characters, one number.
var synonymGroup = func() map[string]int {
	m := map[string]int{}
	for i, group := range []string{
		"use call invoke run execute employ", "choose select pick", "check verify confirm validate test inspect",
		"search find look seek query", "fix repair correct mend", "make create build generate produce",
		"begin start", "finish complete end", "show display present", "get fetch retrieve obtain read load",
		"give offer provide supply propose", "ask request demand", "buy purchase", "book reserve", "large big",
		"small little", "quick fast rapid", "error failure fault problem issue", "answer reply respond response",
		"customer client", "delete remove erase", "change modify alter edit update", "send dispatch",
		"tell inform notify", "wait pause sleep", "retry repeat", "argument parameter", "attempt try", "put place set write",
		"prior before", "instead rather", "needed required necessary", "ensure guarantee", "show indicate", "old outdated",
		"使 用 调", "选 取 挑", "查 看 检 核 询", "写 填", "换 改", "发 送 寄", "等 候", "试 尝", "找 搜 寻", "给 予", "若 如 当", "然 之", "立 马",
	} {
		for word := range strings.FieldsSeq(group) {
			if !hanOnly(word) {
				word = english.Stem(word, false)
			}
			m[word] = i + 1
		}
	}
	return m
}()
