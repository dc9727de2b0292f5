package indexbench

import (
	"slices"

	"golang.org/x/sys/cpu"

	"cairn/cmd/cairn-bench/bar"
)

// Row is a figure of the index, or the reason why there is none.
type Row struct {
	Name, Unit, What string
	Op               string // "<=", ">=", or empty where nothing is demanded
	Bar              float64
	Value, Low, High float64 // median and range over the rounds
	NotRun           string  // why the row was not measured
}

// OK reports whether the bar holds. A row that was not run holds only when nothing is demanded of it.
func (r Row) OK() bool { return r.Op == "" || r.NotRun == "" && bar.Holds(r.Value, r.Op, r.Bar) }

// Rows are the rows of a run, in order. Where the CPU has AVX-512 VNNI more is demanded of three of them.
func Rows() []Row {
	wide := func(narrow, vnni float64) float64 {
		if cpu.X86.HasAVX512VNNI {
			return vnni
		}
		return narrow
	}
	times := func(name string, bar float64, what string) Row {
		return Row{Name: name, Unit: "times", Op: ">=", Bar: bar, What: what}
	}
	most := func(name, unit string, bar float64, what string) Row {
		return Row{Name: name, Unit: unit, Op: "<=", Bar: bar, What: what}
	}
	return []Row{
		times("search_100d_vs_hnswlib", wide(1.5, 1.8), "CPU time of hnswlib for each of ours: 100,000 word vectors, recall@10 of .96 or more on both sides, one thread"),
		times("search_384d_vs_hnswlib", wide(1.8, 2.5), "the same for synthetic vectors of 384 values"),
		times("build_vs_hnswlib", wide(1.1, 1.2), "CPU time of building a graph of as many links, 384 values; a note gives the recall of both"),
		times("filter1_vs_hnswlib", 50, "search among 1 % of the rows, list-making included, recall .99; the worse of random and correlated lists"),
		times("filter10_vs_hnswlib", 10, "search among 10 % of the rows"),
		times("search_vs_usearch_f32", 3, "single queries, 384 values, recall@10 of .96"),
		times("search_vs_usearch_i8", 1.5, "single queries against int8; both at the recall that int8 reaches, at most .96"),
		times("search_vs_faiss_hnsw", 1.2, "single queries"),
		times("search_vs_faiss_ivfpq", 1.2, "single queries against IVF with product codes, ranked by values"),
		{Name: "batch_vs_usearch_f32", Unit: "times", What: "all queries in one call of the peer, one thread"},
		{Name: "batch_vs_usearch_i8", Unit: "times", What: "all queries in one call of the peer, one thread"},
		{Name: "batch_vs_faiss_hnsw", Unit: "times", What: "all queries in one call of the peer, one thread"},
		{Name: "batch_vs_faiss_ivfpq", Unit: "times", What: "all queries in one call of the peer, one thread"},
		times("exact_vs_chromem", 50, "exact search, 384 values"),
		times("exact_vs_sqlitevec", 25, "exact search, 384 values"),
		times("two_threads_vs_one", 1.6, "searches a second of two threads for each of one"),
		most("mixed_read_p99_ratio", "times", 3, "99th percentile of a search while one operation in ten writes, for that without writes"),
		{Name: "exact_scan_vs_stream", Unit: "share", Op: ">=", Bar: .7, What: "codes read a second by an exact scan, as a share of what one thread can read from memory"},
		most("bytes_per_row_1m", "bytes", 700, "anonymous memory that vectors of 384 values and their graph add to 1,000,000 documents; the float32 values are mapped from a file"),
		most("load_1m_s", "s", 5, "loading the file of a pool of 1,000,000 documents without texts, with its graph, file in the page cache"),
		most("search_1m_p99_ms", "ms", 3, "99th percentile of a search among them, recall@10 of .95 or more"),
		most("embed_en_60w_ms", "ms", 20, "an English text of 60 words, one core"),
		most("embed_zh_60w_ms", "ms", 40, "a Chinese text as long as 60 words, one core"),
		most("embed_query_en_ms", "ms", 4, "an English query of 12 tokens, one core"),
		most("embed_query_zh_ms", "ms", 8, "a Chinese query of 12 tokens, one core"),
		times("embed_vs_onnxruntime", 1, "texts a second for each of onnxruntime with the int8 model of the same weights, one thread"),
		times("keywords_vs_best", 2, "queries of three terms among 100,000 documents, the quicker of bleve and tantivy for each of ours"),
	}
}

// spread gives the median and the range of values.
func spread(values []float64) (low, mid, high float64) {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return s[0], (s[(n-1)/2] + s[n/2]) / 2, s[n-1]
}
