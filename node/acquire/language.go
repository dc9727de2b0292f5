package acquire

import "unicode"

// phrases are the words a lens puts around calls and errors, in one language.
type phrases struct {
	plan     string // plan: the way that worked
	do       string // contrast: %s what successes did
	avoid    string // contrast: %s what failures did
	join     string // between two pieces of advice
	stop     string // end of a sentence
	space    string // between two sentences
	call     string // %s tool
	calling  string // avoid form of call
	withArg  string // %s argument, %s tool
	value    string // %s argument="value", %s tool
	word     string // %s piece of a command, %s tool
	names    string // %s names of a query, %s tool
	first    string // %s piece of the first command
	before   string // %s call, %s call
	caution  string // %s call, %s error
	wrong    string // %s call, %s error: a failure that has a remedy
	instead  string // %s call
	diverged string // %s call, %s call: the failure went on without an error
	recover  string // %s tool, %s error, %s remedy
	again    string // %s call, %s call: first the one, then the other again
	change   string // %s call
	retry    string // %s calls: repeat after
	works    string // %s tool, %s what works, %s what fails, %s error
	need     string // %s call, %s tool: prerequisite
	with     string // %s tool, %s arguments: a call in words

	hypoFailed  string // hypothesis: %s call, %s error
	hypoStray   string // %s call that the success does not have
	hypoLeftOut string // %s calls that the failure lacks
	hypoInstead string // %s call of the success
	hypoSame    string // %s plan of a success at the same task
	hypoSimilar string // %s plan of a success at a similar task
	hypoLesson  string // %s lesson from a similar task
	turned      string // retry: %s what worked, %s call, %s error
	swapped     string // retry: %s what worked, %s call that led nowhere
	path        string // retry: %s steps
	then        string // between two steps of a path
}

var english = phrases{
	plan:     "Plan that worked: ",
	do:       "Do: %s",
	avoid:    "Avoid: %s",
	join:     "; ",
	stop:     ".",
	space:    " ",
	call:     "call `%s`",
	calling:  "calling `%s`",
	withArg:  "give the argument `%s` to `%s`",
	value:    "use `%s` in `%s`",
	word:     "use `%s` in `%s`",
	names:    "use the names %s in `%s`",
	first:    "start with `%s` in `%s`",
	before:   "call `%s` before `%s`",
	caution:  "Avoid %s: it failed with %s.",
	wrong:    "Avoid %s: it failed with %s.",
	instead:  " Instead: %s.",
	diverged: "Avoid %s at this point; %s led to success.",
	recover:  "If `%s` fails with %s: %s.",
	again:    "call %s first, then %s again",
	change:   "call %s instead",
	retry:    "call %s and repeat the same call",
	works:    "In `%s`, %s works; %s fails with %s.",
	need:     "Call %s before `%s`.",
	with:     "`%s` with %s",

	hypoFailed:  "The first wrong step was probably %s: it failed with %s.",
	hypoStray:   "The first wrong step was probably %s: the attempt that succeeded did not make it.",
	hypoLeftOut: "Left out before it: %s.",
	hypoInstead: "The success called %s instead.",
	hypoSame:    "What worked at this task before: %s",
	hypoSimilar: "What worked at a similar task: %s",
	hypoLesson:  "A lesson from a similar task says: %s",
	turned:      "Do: %s. Before that, %s failed with %s.",
	swapped:     "Do: %s. Before that, %s led nowhere.",
	path:        "The way that worked: %s.",
	then:        ", then ",
}

var chinese = phrases{
	plan:     "有效步骤：",
	do:       "应当：%s",
	avoid:    "避免：%s",
	join:     "；",
	stop:     "。",
	space:    "",
	call:     "调用 `%s`",
	calling:  "调用 `%s`",
	withArg:  "把参数 `%s` 传给 `%s`",
	value:    "使用 `%s`（`%s`）",
	word:     "使用 `%s`（`%s`）",
	names:    "使用名称 %s（`%s`）",
	first:    "先用 `%s`（`%s`）",
	before:   "先调用 `%s` 再调用 `%s`",
	caution:  "避免 %s：失败，返回 %s。",
	wrong:    "避免 %s：失败，返回 %s。",
	instead:  "改用：%s。",
	diverged: "此处避免 %s；%s 能成功。",
	recover:  "若 `%s` 返回 %s：%s。",
	again:    "先调用 %s，再重新调用 %s",
	change:   "改为调用 %s",
	retry:    "先调用 %s，再重复同一调用",
	works:    "在 `%s` 中，%s 有效；%s 会返回 %s。",
	need:     "先调用 %s，再调用 `%s`。",
	with:     "`%s`（%s）",

	hypoFailed:  "第一个错误步骤可能是 %s：失败，返回 %s。",
	hypoStray:   "第一个错误步骤可能是 %s：成功的尝试没有这一步。",
	hypoLeftOut: "之前遗漏了：%s。",
	hypoInstead: "成功的尝试改用了 %s。",
	hypoSame:    "此前完成该任务的步骤：%s",
	hypoSimilar: "类似任务的有效步骤：%s",
	hypoLesson:  "类似任务的经验是：%s",
	turned:      "应当：%s。此前 %s 失败，返回 %s。",
	swapped:     "应当：%s。此前 %s 没有结果。",
	path:        "有效的过程：%s。",
	then:        "，然后 ",
}

// phrasesFor returns the words of the language of text: Chinese when at least three in ten letters are Han.
func phrasesFor(text string) phrases {
	letters, han := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Han, r) {
				han++
			}
		}
	}
	if han > 0 && han*10 >= letters*3 {
		return chinese
	}
	return english
}
