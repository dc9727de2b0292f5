package federation

import (
	"encoding/json"
	"os"
	"testing"
)

type goldenFile struct {
	Z       float64        `json:"z"`
	KB      int64          `json:"k_b"`
	Vectors []goldenVector `json:"vectors"`
}

type goldenVector struct {
	Case           string `json:"case"`
	Jury           int    `json:"jury"`
	Citations      int64  `json:"citations"`
	PromotedBefore bool   `json:"promoted_before"`
	Jurors         []struct {
		Count            int
		W, S, V, LW, LS  Micro
		LeniencyExpected Micro `json:"b"`
	} `json:"jurors"`
	N, Mu, Trust, Upper Micro
	Heard, Quorum       int
	Decision            string
}

// jurors spells the counts out; the citations of the case go to the first juror.
func (v goldenVector) jurors() (list []Juror, leniency []Micro) {
	for _, group := range v.Jurors {
		for range group.Count {
			list = append(list, Juror{
				Acc:   Accumulator{W: group.W, S: group.S, V: group.V},
				Rater: Rater{LW: group.LW, LS: group.LS},
			})
			leniency = append(leniency, group.LeniencyExpected)
		}
	}
	if len(list) > 0 {
		list[0].Acc.Citations = v.Citations
	}
	return list, leniency
}

func readGolden(t *testing.T) goldenFile {
	t.Helper()
	data, err := os.ReadFile("testdata/trust_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file goldenFile
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < 14 {
		t.Fatalf("golden file has %d vectors, want at least 14", len(file.Vectors))
	}
	return file
}

func TestTrustGoldenVectors(t *testing.T) {
	file := readGolden(t)
	p := DefaultProfile()
	if got := unit(p.Z); got != file.Z {
		t.Errorf("z = %v, want %v", got, file.Z)
	}
	if p.LeniencyK != file.KB*One {
		t.Errorf("leniency k = %d, want %d", p.LeniencyK, file.KB*One)
	}
	for _, v := range file.Vectors {
		t.Run(v.Case, func(t *testing.T) {
			jurors, leniency := v.jurors()
			s := Trust(jurors, v.Jury, p)
			for i, term := range s.Terms {
				if term.Leniency != leniency[i] {
					t.Errorf("juror %d: leniency %d, want %d", i, term.Leniency, leniency[i])
				}
			}
			got := [...]int64{s.N, s.Mu, s.Trust, s.Upper, int64(s.Heard), int64(s.Quorum), s.Citations}
			want := [...]int64{v.N, v.Mu, v.Trust, v.Upper, int64(v.Heard), int64(v.Quorum), v.Citations}
			if got != want {
				t.Errorf("n, mu, trust, upper, heard, quorum, citations:\n got %v\nwant %v", got, want)
			}
			decision := Verdict(v.Decision)
			if v.Decision == "keep" {
				decision = VerdictStay
			}
			if verdict, missing := Decide(s, v.PromotedBefore, p); verdict != decision {
				t.Errorf("verdict %s %v, want %s", verdict, missing, decision)
			}
		})
	}
}
