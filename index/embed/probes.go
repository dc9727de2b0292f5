package embed

// probes are lessons of unlike subjects, written for this purpose.
var probes = [...]probe{
	{"Check the fare rules before you cancel a basic economy ticket.", "Before cancelling a basic economy fare, look up its conditions.", "Offer the traveller the next flight when a booking was cancelled by the airline."},
	{"A refund needs the order number and a verified payment.", "Verify the payment and have the order number ready before refunding.", "Tell the customer that a refund takes five working days."},
	{"Read every page of the search results until the cursor is empty.", "Follow the cursor through all result pages, to the last.", "Sort search results by price before you choose one."},
	{"Quote column names that are reserved words in SQL.", "Reserved words used as column names in SQL have to be quoted.", "Join the orders table on customer id to count purchases."},
	{"Use find with -print0 when file names may hold spaces.", "File names with blanks call for find -print0.", "Count the lines of all log files with wc."},
	{"Log in again when the session token has expired.", "An expired session token means a new login.", "Store the password in the vault and never in the script."},
	{"Dates go to the calendar service as year, month, day.", "The calendar expects dates in the order year-month-day.", "Ask everybody before moving a meeting to another day."},
	{"Wait a minute when the service answers that there were too many requests.", "After a too-many-requests answer, pause for one minute.", "Send at most ten messages a second to the queue."},
	{"The tomato soup needs a spoon of sugar against the acid.", "A spoonful of sugar takes the acid out of tomato soup.", "Let the bread dough rise for two hours in a warm place."},
	{"Water the orchids once a week with rain water.", "Orchids want rain water, one time each week.", "Cut the roses back in early spring."},
	{"The band tunes half a tone lower for the old singer.", "For their ageing singer the band plays a semitone down.", "The violin concerto has three movements."},
	{"Compile with the race detector before you merge.", "Before merging, build and run with race detection.", "Name tests after the behaviour that they check."},
	{"The patient takes the tablets after meals, twice a day.", "Two times daily, after eating, the patient gets the pills.", "Measure the blood pressure in the morning before breakfast."},
	{"Plan a route around the mountain pass in winter.", "In winter, choose a way that avoids the pass.", "Change the tyres before the first snow."},
	{"Sum the invoices by quarter for the tax report.", "For the tax report, add up invoices per quarter.", "Send a reminder for invoices that are thirty days late."},
	{"Feed the parser one line at a time to keep memory low.", "To save memory, hand lines to the parser one by one.", "Escape angle brackets before you write HTML."},
	{"退票之前先查看机票的退改规则。", "取消机票前，请先确认退改签条件。", "航班被取消时，为旅客改签下一班。"},
	{"退款需要订单号和已核实的付款记录。", "退款前要核实付款并准备好订单号。", "告诉顾客退款五个工作日内到账。"},
	{"搜索结果要翻到最后一页为止。", "请把搜索结果一页一页看完。", "先按价格给搜索结果排序。"},
	{"会话过期后需要重新登录。", "登录状态失效时要再登录一次。", "密码应当保存在保险库里。"},
	{"请求过多时等待一分钟再试。", "若提示请求太频繁，请过一分钟重试。", "每秒最多向队列发送十条消息。"},
	{"番茄汤里加一勺糖可以去酸。", "做番茄汤放一勺糖能减轻酸味。", "面团要在温暖的地方发酵两小时。"},
	{"病人每天饭后服药两次。", "药片一日两次，饭后服用。", "早饭前测量血压。"},
	{"冬天开车要绕开山口。", "冬季行车应避开山口路段。", "下雪之前换好轮胎。"},
}
