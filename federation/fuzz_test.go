package federation

import (
	"slices"
	"testing"
	"unicode/utf8"
)

var seeds = []string{
	"", " ", "Wait 2 s, at most 3 tries.", "先登录，再调用 get_user。", "“quoted” and `code` and 'single'", "\xff\xfe", "\x00\u200b\u202e",
	"2027年5月3日下午3点半", "百分之五 十万亿亿亿亿亿亿亿亿", "login(user=\"<arg>\") -> search(sort=\"price\")", "May 3, 2027 at 3 pm", "half an hour",
	"not never without no 不不不", "二零二七二零二七二零二七二零二七", "1,000,000,000 $5 5% 3-5 days 1.2.3 v2", "ﷺ 𝒯 İ ǅ ß", "->->->", "(((", "的的的",
	"99999999999999999999999999999 days", "first second third", "between a and b before", "a before b. b before a.", "-'.:&",
}

func FuzzNormalizeText(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		normal := NormalizeText(s)
		if !utf8.ValidString(normal) {
			t.Fatalf("%q is not UTF-8", normal)
		}
		if again := NormalizeText(normal); again != normal {
			t.Fatalf("%q becomes %q", normal, again)
		}
		tokens := TokenSet(s)
		if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != len(tokens) {
			t.Fatalf("no set: %v", tokens)
		}
		if !slices.Equal(tokens, TokenSet(normal)) {
			t.Fatal("the normal form has other tokens")
		}
		if same := Jaccard(tokens, tokens); len(tokens) > 0 && same != One || len(tokens) == 0 && same != 0 {
			t.Fatalf("jaccard of itself is %d", same)
		}
		if TextHash(s, "", "") != TextHash(normal, "", "") {
			t.Fatal("the normal form has another hash")
		}
	})
}

func FuzzVetoes(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, seeds[(i+1)%len(seeds)], s)
	}
	f.Fuzz(func(t *testing.T, scenario, a, b string) {
		x, y := DedupeSide{Scenario: scenario, Content: a}, DedupeSide{Scenario: scenario, Content: b}
		if codes := Vetoes(x, x); len(codes) > 0 {
			t.Fatalf("a text differs from itself: %v", codes)
		}
		if one, other := Vetoes(x, y), Vetoes(y, x); !slices.Equal(one, other) {
			t.Fatalf("%v one way, %v the other", one, other)
		}
	})
}

// TestTextHashKeepsPartsApart checks that moving a word over a boundary changes the hash.
func TestTextHashKeepsPartsApart(t *testing.T) {
	hashes := map[[32]byte]bool{}
	for _, parts := range [][]string{{"a b", "c", ""}, {"a", "b c", ""}, {"a", "b", "c"}, {"", "a b c", ""}} {
		hashes[TextHash(parts[0], parts[1], parts[2])] = true
	}
	hashes[TextHash("a", "b", "", "c")] = true
	hashes[TextHash("a", "b", "", "c", "")] = true
	if len(hashes) != 6 {
		t.Errorf("%d different hashes, want 6", len(hashes))
	}
	if TextHash("A  b", "c.", "") != TextHash("a b", "C", "") {
		t.Error("spelling changes the hash")
	}
}

func TestJaccard(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want Micro
	}{
		{"", "", 0},
		{"a", "", 0},
		{"a b c d", "d c b a", One},
		{"a b c", "b c d", 500_000},
		{"退款规则", "退款规定", 500_000}, // 退款 款规 of 退款 款规 规则 规定
	} {
		if got := Jaccard(TokenSet(test.a), TokenSet(test.b)); got != test.want {
			t.Errorf("%q and %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

func BenchmarkVetoes(b *testing.B) {
	x := DedupeSide{Scenario: seeds[2], Content: "Check the reservation with get_reservation first. Refund only if it was cancelled within 24 hours of booking."}
	y := DedupeSide{Scenario: seeds[2], Content: "Before refunding, call get_reservation. The refund is allowed only for cancellations made within 1 day."}
	for b.Loop() {
		Vetoes(x, y)
	}
}
