package retrievaleval

// Row is a figure of a run, a share between 0 and 1 unless What says otherwise.
type Row struct {
	Name, What string
	Op         string // "<=", ">=", or empty where nothing is demanded
	Bar        float64
	Value      float64
}

// Rows are the rows of a run, in order.
func Rows() []Row {
	const found = "of what belongs to a question, how much is among the first "
	figure := func(name, what string) Row { return Row{Name: name, What: what} }
	least := func(name string, bar float64, what string) Row {
		return Row{Name: name, What: what, Op: ">=", Bar: bar}
	}
	out := []Row{
		least("locomo_fused_r5", .55, found+"five: LoCoMo, turns of dialogues, vectors and keywords together"),
		least("locomo_fused_r10", .645, found+"ten: the same"),
		figure("locomo_keywords_r5", found+"five: LoCoMo, keywords alone"),
		figure("locomo_keywords_r10", found+"ten: the same"),
		least("prefeval_r5", .28, found+"five: PrefEval, the preference behind a question"),
		least("bfclmem_r5", .92, found+"five: turns of dialogues of the BFCL memory set"),
		least("memorybank_cn_r5", .62, found+"five: MemoryBank, answers in Chinese to what a user said"),
		figure("memorybank_en_r5", found+"five: the same in English"),
		figure("reme_en_r5", found+"five: ReMe, lessons in English by their scenario"),
		figure("reme_zh_r5", found+"five: the same in Chinese"),
		least("fused_minus_keywords_min", 0, "the least difference over all sets and depths between both together and keywords alone"),
		least("nonsense_empty", .95, "of 500 texts of six random words of other collections, in two languages, how many find nothing"),
		figure("nonsense_own_empty", "of 500 texts of six random words of questions of the same language, those to the collection among them, how many find nothing"),
		figure("floor_keeps", "of what is found for questions among the first five and belongs to them, how much lies above the relevance floor: the set with the least"),
	}
	for _, t := range tables {
		out = append(out, Row{Name: t.set + "_short", Op: "<=", Bar: .01,
			What: "how much recall with cosines alone, or with the weight of keywords that the encoder's table names, lies below that table at most"})
	}
	return out
}

// table is what was published with the encoders for a set: recall at both depths by cosine alone, and with a fixed weight of keywords.
type table struct {
	set              string
	cosine, weighted recall
	weight           string // the name of the arm
}

var tables = []table{
	{"locomo", recall{.335, .428}, recall{.472, .575}, "w.3"},
	{"bfclmem", recall{.868, .928}, recall{.954, .979}, "w.3"},
	{"prefeval", recall{.109, .304}, recall{.108, .289}, "w.3"},
	{"memorybank_en", recall{.380, .664}, recall{.412, .688}, "w.3"},
	{"memorybank_cn", recall{.328, .612}, recall{.368, .632}, "w.2"},
}

// short is how much the worst figure lies below the table, negative when none does.
func (t table) short(by map[string]recall) float64 {
	worst := -1.
	for i := range t.cosine {
		worst = max(worst, t.cosine[i]-by["cosine"][i], t.weighted[i]-by[t.weight][i])
	}
	return worst
}
