package screen

import (
	"regexp"
	"strings"
)

func order(name, needs, pattern string) rule {
	return rule{needs: strings.Split(needs, "|"), name: name, kind: Instruction, action: Quarantine, re: regexp.MustCompile(`(?i)` + pattern)}
}

// few is up to n words in between.
const few = `(?:[\w'"-]+[ ,:]+){0,4}?`

// orderRules are phrases by which a text speaks to the model that reads it, in English and Chinese. They are looked for in
// every field.
var orderRules = []rule{
	order("override", "ignore|disregard|forget|override|bypass|overlook|neglect|discard|skip|set aside|attention to", `\b(?:ignore|disregard|forget|override|bypass|overlook|neglect|discard|skip|set aside|pay no attention to)[ ]+`+few+
		`(?:previous|prior|above|earlier|preceding|foregoing|existing|original|initial|system|all|any|your|the|these|those|other)[ ]+`+few+
		`(?:instructions?|prompts?|directions?|directives?|rules|guidelines?|polic(?:y|ies)|training|safeguards?|restrictions?|programming|context above)\b`),
	order("override", "ignore|forget|disregard", `\b(?:ignore|forget|disregard) (?:everything|all|anything)[^.\n]{0,24}\b(?:above|before|previous(?:ly)?|so far|told|said|learned)\b`),
	order("role", "you are now|from now on|you will now|pretend|act as|mode|jailbreak|anything now", `\byou are now\b|\bfrom now on,? you\b|\byou will now (?:act|be|behave|respond|answer)\b|\bpretend (?:to be|you are|that you)\b|`+
		`\bact as (?:if you|though you|an? (?:unrestricted|unfiltered|evil|different|new)|dan\b)|\b(?:developer|dan|god|jailbreak|debug) mode\b|\bjailbreak|\bdo anything now\b`),
	order("system_prompt", "system|reveal|print|show|repeat|output|leak|expose|disclose|display", `\bsystem prompt\b|\bsystem message\b|\b(?:reveal|print|show|repeat|output|leak|expose|disclose|display)[ ]+`+few+
		`(?:hidden|initial|original|secret|internal|system|your own|your)[ ]+(?:instructions?|prompts?|rules|guidelines)\b`),
	order("markup", "<|[inst|[/inst|#|begin|instructions", `<\|[a-z_]{2,20}\|>|\[/?INST\]|<</?SYS>>|</?(?:system|assistant|instructions?)>|^#{1,4} ?(?:system|new instructions?)\b|\bbegin (?:system|admin) (?:message|prompt)|\bnew (?:system )?instructions?:`),
	order("secrecy", "tell|inform|notify|alert|warn|mention|reveal|let|without|unnoticed|undetected|hidden|covertly|stealthily|detection|secret|between us", `\b(?:do not|don't|never|without)[ ]+(?:tell|inform|notify|alert|warn|mention|reveal|let|telling|informing|notifying|alerting|letting)[ ]+`+few+
		`(?:users?|humans?|operators?|owners?|administrators?|admins?|anyone|anybody|security team)\b|`+
		`\bwithout (?:the user|the users|their|anyone|anybody)(?:'s)? (?:knowing|noticing|knowledge|noticed|consent)\b|`+
		`\b(?:goes|go|going|remain(?:s|ing)?|stay(?:s|ing)?) (?:unnoticed|undetected|hidden from)\b|\bcovertly\b|\bstealthily\b|\bavoid(?:ing)? detection\b|\bkeep (?:this|it) (?:secret|hidden|between us)\b`),
	order("exfiltration", "send|forward|mail|upload|exfiltrate|transmit|leak|post|copy", `\b(?:send|forward|e-?mail|upload|exfiltrate|transmit|leak|post|copy)[ ]+(?:[\w'"-]+[ ,]+){0,6}?`+
		`(?:passwords?|credentials?|api keys?|secrets?|private keys?|chat history|conversations?|personal data|tokens?)[ ]+(?:[\w'"-]+[ ,]+){0,4}?(?:to|at)[ ]+(?:\S+@|https?://|www\.|the attacker|this address|an? external)`),
	order("obedience", "must|follow|obey|execute|exactly|this is an order|an ai", `\byou must (?:obey|comply|follow (?:my|these|the following))\b|\b(?:follow|obey|execute) (?:these|my|the following) (?:instructions?|orders?|commands?)\b|`+
		`\bdo exactly as i say\b|\bthis is an order\b|\b(?:as|you are) an ai (?:language )?(?:model|assistant)\b`),
	order("override", "忽略|无视|忘记|忘掉|不要理会|不用管|抛开|跳过|绕过", `(?:忽略|无视|忘记|忘掉|不要理会|不用管|抛开|跳过|绕过)[^。\n]{0,8}(?:之前|以上|上述|前面|先前|此前|原有|原来|所有|一切|任何|系统|你的)[^。\n]{0,8}(?:指令|指示|提示词?|规则|要求|设定|限制|内容|对话|命令|约束)`),
	order("role", "你现在|从现在|假装|扮演|越狱|开发者模式|不受", `你现在(?:是|扮演|将)|从现在(?:开始|起)[,，]?\s*你|假装你?是|(?:请)?扮演(?:一个|一名|成)|越狱|开发者模式|不受(?:任何)?限制的`),
	order("system_prompt", "系统提示|提示词|指令", `系统提示|(?:输出|显示|重复|打印|透露|泄露|告诉我)[^。\n]{0,8}(?:提示词|系统指令|初始指令|隐藏指令)`),
	order("secrecy", "不要|别|切勿|请勿|不得|无需|不能|不被|避免被|以免被", `(?:不要|别|切勿|请勿|不得|无需|不能)(?:告诉|告知|通知|提醒|透露给|让)[^。\n]{0,6}(?:用户|任何人|管理员|主人|人类|别人)|(?:不被|避免被|以免被)(?:发现|察觉|检测)`),
	order("exfiltration", "把|将", `(?:把|将)[^。\n]{0,16}(?:密码|密钥|令牌|聊天记录|个人信息|凭证)[^。\n]{0,10}(?:发送|发到|发给|上传|转发)`),
	order("obedience", "必须|按我说的做|命令", `你?必须(?:服从|听从|遵从|照做)|按我说的做|这是(?:一个)?命令`),
}

// requestRules are ways of asking the reader for something. A lesson has no need of them; the description of a task has, so
// that they are not looked for there.
var requestRules = []rule{
	{name: "request", needs: []string{"please", "kindly"}, kind: Instruction, action: Quarantine, group: 1,
		re: regexp.MustCompile(`(?i)(?:^|[.!?][ ]+|\n[ \t>*-]*)((?:please|kindly)[ ]+[a-z]+)`)},
	order("reader_answer", "your|reply", `\b(?:in|to|of|into|from|with|for|as|using|within|through(?:out)?|render|modify|enhance|augment|encode|encrypt|reverse|translate|replace|display|represent|express|change|provide|write|convert|end|begin|start)[ ]+`+few+
		`your (?:final )?(?:response|reply|answer|message|elucidation)s?\b|\byour (?:response|reply|answer)\b|\breply (?:using|in|with)\b`),
	order("reader_code", "code|your", `\b(?:following|below|subsequent|next|this|given) (?:python |javascript |shell )?code (?:snippet|block|section|excerpt|segment|fragment)s?\b|`+
		`\b(?:into|in|to|of|for|within|behind) your (?:code|codebase|implementation|solution|algorithm|elucidation)\b`),
}
