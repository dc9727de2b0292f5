package federation

// families lists what excludes each other: opposites, and values of one kind. A way to say a member stands in
// one member only. Words that a paraphrase turns round (before and after, with and without) are not here.
var families = []family{
	{VetoOpposite, []string{
		"ascending|lowest first|low to high|升序|从低到高|从小到大|由低到高",
		"descending|highest first|high to low|降序|从高到低|从大到小|由高到低",
	}},
	{VetoOpposite, []string{
		"cheapest|cheaper|least expensive|lowest|minimum|smallest|最便宜|更便宜|最低|最小",
		"most expensive|more expensive|dearest|highest|maximum|largest|biggest|最贵|更贵|最高|最大",
		"fastest|quickest|shortest|最快|最短",
		"slowest|longest|最慢|最长",
		"nearest|closest|最近的",
		"farthest|furthest|最远",
		"newest|latest|most recent|最新|最近",
		"oldest|earliest|最旧|最早",
	}},
	{VetoOpposite, []string{"first|beforehand|before anything else|首先|先", "last|at the end|最后"}},
	{VetoOpposite, []string{
		"enable|enabled|enabling|turn on|turning on|switch on|switched on|activate|on for|开启|打开|启用",
		"disable|disabled|disabling|turn off|turning off|switch off|switched off|deactivate|off for|关闭|停用|禁用",
	}},
	{VetoOpposite, []string{
		"above|over|more than|exceeds|exceed|exceeding|larger than|greater than|higher than|rises over|超过|大于|高于|以上|多于",
		"below|under|less than|fewer than|fewer|smaller than|lower than|小于|低于|不足|以下|少于",
	}},
	{VetoOpposite, []string{
		"at least|no less than|not less than|no fewer than|or more|至少|最少|不少于|不低于",
		"at most|no more than|not more than|up to|or less|no later than|至多|最多|不超过|不多于|不高于",
	}},
	{VetoOpposite, []string{
		"increase|increasing|raise|widen|widened|extend|提高|增加|扩大|放宽|上调|延长",
		"decrease|decreasing|reduce|reducing|narrow|narrowed|shrink|shorten|降低|减少|缩小|下调|缩短",
	}},
	{VetoOpposite, []string{"upload|uploads|uploading|uploaded|上传|传不上去|传上去", "download|downloads|downloading|downloaded|下载"}},
	{VetoOpposite, []string{
		"upgrade|upgrading|update|updates|updating|升级|更新", "downgrade|downgrading|roll back|rollback|降级|回滚",
	}},
	{VetoOpposite, []string{
		"header|header row|heading|first line|first row|head n|表头|首行|第一行", "footer|footer row|last line|last row|tail n|表尾|末行|最后一行",
	}},
	{VetoOpposite, []string{"into|放入|移入|并入", "out of|移出"}},
	{VetoOpposite, []string{"include|includes|including|包含|包括", "exclude|excludes|excluding|排除"}},
	{VetoOpposite, []string{
		"allow|allows|allowed|permit|permits|permitted|允许|接受",
		"deny|denies|denied|forbid|forbidden|prohibit|prohibited|block|blocked|禁止",
	}},
	{VetoOpposite, []string{
		"succeeds|succeed|succeeded|successful|successfully|passes|成功|通过", "fails|fail|failed|failing|unsuccessful|失败",
	}},
	{VetoOpposite, []string{"large|big|larger|bigger|大文件|较大|大的|大批量", "small|little|smaller|tiny|小文件|较小|小的|小批量"}},
	{VetoOpposite, []string{"high|高", "low|低"}},
	{VetoOpposite, []string{"buy|purchase|买入|购买", "sell|卖出|出售"}},
	{VetoOpposite, []string{"encrypt|加密", "decrypt|解密"}},
	{VetoOpposite, []string{"import|imports|importing|导入|进口", "export|exports|exporting|导出|出口"}},
	{VetoOpposite, []string{"accept|accepts|approve|approves|approved|批准|同意", "decline|reject|rejects|驳回|不同意"}},
	{VetoOpposite, []string{"internal|内部", "external|外部"}},
	{VetoOpposite, []string{"public|公开", "private|私有"}},
	{VetoOpposite, []string{"inbound|incoming|入站", "outbound|outgoing|出站"}},
	{VetoOpposite, []string{"domestic|国内", "international|foreign|国际|国外"}},
	{VetoOpposite, []string{"departure|departures|departing|出发|起飞", "arrival|arrivals|arriving|到达|降落|抵达"}},
	{VetoOpposite, []string{"online|在线", "offline|离线"}},
	{VetoOpposite, []string{"local|locally|本地", "remote|remotely|offsite|远程|异地"}},
	{VetoOpposite, []string{"weekday|weekdays|工作日", "weekend|weekends|周末"}},
	{VetoOpposite, []string{"valid|有效", "invalid|无效"}},
	{VetoOpposite, []string{"automatic|automatically|自动", "manual|manually|手动|人工"}},
	{VetoOpposite, []string{"synchronous|synchronously|同步", "asynchronous|asynchronously|异步"}},
	{VetoOpposite, []string{"odd|奇数", "even numbered|even number|偶数"}},
	{VetoOpposite, []string{"left|左", "right side|on the right|to the right|右"}},
	{VetoOpposite, []string{"logged in|signed in|已登录", "logged out|signed out|未登录"}},
	{VetoOpposite, []string{"only if|only when|only after|只有|仅当|仅在", "even if|even when|regardless|即使|不管|无论"}},
	{VetoValues, []string{
		"economy|economy class|经济舱", "business class|business ticket|business cabin|business fare|business seat|商务舱|公务舱",
		"first class|头等舱", "premium economy|超级经济舱",
	}},
	{VetoValues, []string{"window seat|window seats|window|靠窗", "aisle seat|aisle seats|aisle|靠走道|过道", "middle seat|中间座位"}},
	{VetoValues, []string{
		"production|prod|生产环境|生产", "staging|预发", "test environment|testing environment|测试环境",
		"development environment|dev|开发环境", "sandbox|沙箱",
	}},
	{VetoValues, []string{"linux", "windows", "macos|mac os", "android|安卓", "ios"}},
	{VetoValues, []string{
		"english|英文|英语", "chinese|中文|汉语", "french|法文|法语", "german|德文|德语", "spanish|西班牙语|西班牙文", "japanese|日文|日语",
		"korean|韩文|韩语", "russian|俄文|俄语", "portuguese|葡萄牙语", "italian|意大利语", "arabic|阿拉伯语", "dutch|荷兰语",
	}},
	{VetoValues, []string{"python", "ruby", "java", "javascript", "typescript", "golang", "rust", "php", "perl", "kotlin", "swift"}},
	{VetoValues, []string{
		"morning|mornings|早上|上午|早晨", "noon|midday|中午", "afternoon|afternoons|下午", "evening|evenings|晚上|傍晚",
		"midnight|午夜|凌晨", "night|nights|夜间|深夜",
	}},
	{VetoValues, []string{
		"hourly|every hour|each hour|每小时", "daily|every day|each day|每天|每日", "weekly|every week|each week|每周|每星期",
		"monthly|every month|each month|每月|每个月", "quarterly|每季度", "yearly|annually|every year|每年",
	}},
	{VetoValues, []string{
		"credit card|credit|信用卡", "debit card|借记卡|储蓄卡", "gift card|礼品卡", "certificate|voucher|代金券|优惠券", "paypal",
		"alipay|支付宝", "wechat pay|微信支付", "cash|现金", "bank transfer|银行转账", "checking|checking account|活期",
		"savings|savings account|定期",
	}},
	{VetoValues, []string{
		"red|红色", "green|绿色", "blue|蓝色", "yellow|黄色", "black|黑色", "white|白色", "orange|橙色", "purple|紫色",
	}},
	{VetoValues, []string{"华东", "华南", "华北", "华中", "西南", "西北", "东北"}},
	{VetoValues, []string{"north|northern|北方", "south|southern|南方", "east|eastern|东部", "west|western|西部"}},
	{VetoValues, []string{
		"manager|managers|supervisor|经理|主管", "customer|customers|client|passenger|客户|顾客|乘客", "finance|财务", "legal|法务",
		"administrator|administrators|admin|管理员", "guest|guests|访客", "supplier|suppliers|vendor|供应商", "doctor|医生",
	}},
	{VetoValues, []string{
		"flight|flights|航班|飞机", "train|trains|火车|高铁|列车", "bus|buses|大巴|公交", "taxi|出租车", "ferry|轮渡",
		"hotel|hotels|酒店", "car rental|rental car|租车", "cruise|邮轮",
	}},
	{VetoValues, []string{"vegetarian|吃素|素食", "vegan|纯素", "halal|清真", "kosher", "gluten free|无麸质"}},
	{VetoValues, []string{"json", "xml", "csv", "yaml", "html", "pdf", "markdown", "excel"}},
	{VetoValues, []string{"price|prices|价格", "delivery|shipping|配送|物流", "quality|质量", "duration|时长", "rating|ratings|评分"}},
	{VetoValues, []string{
		"argument|arguments|parameter|parameters|参数", "headers|request headers|请求头", "request body|payload|请求体", "query string|查询串",
	}},
	{VetoValues, []string{
		"phone number|phone numbers|telephone|telephone number|电话号码|手机号", "postal code|postal codes|postcode|zip code|zip codes|邮编|邮政编码",
		"email address|email addresses|e mail address|邮箱地址|邮箱", "street address|home address|住址|家庭地址",
	}},
	{VetoValues, []string{
		"personal names|names of people|人名", "place names|names of places|地名", "company names|names of companies|公司名",
	}},
	{VetoValues, []string{"date|dates|date range|日期", "airport|airports|机场", "price range|价格区间|价格范围"}},
	{VetoValues, []string{
		"pasta|noodles|意面|面条", "salad|沙拉", "pizza|披萨", "soup|汤", "rice|米饭", "sandwich|sandwiches|三明治", "steak|牛排", "sushi|寿司",
	}},
	{VetoValues, []string{"coffee|咖啡", "tea|茶", "juice|果汁", "beer|啤酒", "wine|葡萄酒", "milk|牛奶"}},
	{VetoValues, []string{"row|rows|行数据", "column|columns|列"}},
	{VetoValues, []string{"username|user name|用户名", "password|passwords|密码", "token|tokens|令牌"}},
	{VetoValues, []string{"father|爸爸|父亲", "mother|妈妈|母亲", "brother|兄弟|哥哥|弟弟", "sister|姐姐|妹妹|姐妹"}},
	{VetoValues, []string{"gold|金卡", "silver|银卡", "platinum|白金卡", "bronze|铜卡"}},
	{VetoValues, []string{"breakfast|早餐", "lunch|午餐|午饭", "dinner|晚餐|晚饭"}},
	{VetoValues, []string{"spring|春季", "summer|夏季", "autumn|秋季", "winter|冬季"}},
	{VetoValues, []string{"postgresql|postgres", "mysql", "sqlite", "mongodb", "redis", "oracle"}},
	{VetoValues, []string{"chrome", "firefox", "safari", "edge browser"}},
	{VetoNames, cities},
	{VetoNames, countries},
}

// cities are names that need no capital to be known, and the same place in two languages.
var cities = []string{
	"beijing|北京", "shanghai|上海", "guangzhou|广州", "shenzhen|深圳", "hangzhou|杭州", "nanjing|南京", "chengdu|成都",
	"chongqing|重庆", "wuhan|武汉", "xian|西安", "tianjin|天津", "suzhou|苏州", "harbin|哈尔滨", "dalian|大连", "qingdao|青岛",
	"xiamen|厦门", "kunming|昆明", "changsha|长沙", "zhengzhou|郑州", "shenyang|沈阳", "hong kong|香港", "macau|澳门",
	"taipei|台北", "tokyo|东京", "osaka|大阪", "seoul|首尔", "singapore city", "bangkok|曼谷", "delhi|德里", "mumbai|孟买",
	"dubai|迪拜", "istanbul|伊斯坦布尔", "moscow|莫斯科", "london|伦敦", "paris|巴黎", "berlin|柏林", "munich|慕尼黑",
	"frankfurt|法兰克福", "madrid|马德里", "barcelona|巴塞罗那", "lisbon|里斯本", "rome|罗马", "milan|米兰", "vienna|维也纳",
	"zurich|苏黎世", "amsterdam|阿姆斯特丹", "brussels|布鲁塞尔", "new york|nyc|纽约", "boston|波士顿", "chicago|芝加哥",
	"denver|丹佛", "dallas|达拉斯", "houston|休斯顿", "seattle|西雅图", "san francisco|旧金山", "los angeles|洛杉矶",
	"las vegas|拉斯维加斯", "miami|迈阿密", "atlanta|亚特兰大", "phoenix|凤凰城", "philadelphia|费城", "washington|华盛顿",
	"toronto|多伦多", "vancouver|温哥华", "montreal|蒙特利尔", "sydney|悉尼", "melbourne|墨尔本", "cairo|开罗",
}

var countries = []string{
	"china|中国", "japan|日本", "south korea|韩国", "india|印度", "singapore|新加坡", "thailand|泰国", "vietnam|越南",
	"united states|usa|美国", "canada|加拿大", "mexico|墨西哥", "brazil|巴西", "argentina|阿根廷", "united kingdom|uk|英国",
	"france|法国", "germany|德国", "spain|西班牙", "italy|意大利", "portugal|葡萄牙", "netherlands|荷兰", "belgium|比利时",
	"switzerland|瑞士", "austria|奥地利", "sweden|瑞典", "norway|挪威", "denmark|丹麦", "poland|波兰", "russia|俄罗斯",
	"turkey|土耳其", "australia|澳大利亚", "new zealand|新西兰", "south africa|南非", "egypt|埃及",
}
