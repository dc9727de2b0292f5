package world

import (
	"fmt"
	"math/rand/v2"
)

var (
	people   = []string{"ana", "ben", "carla", "david", "emma", "felix", "grace", "hugo", "ines", "jonas", "karin", "liam", "maria", "nora", "oscar", "paula"}
	airports = []string{"AMS", "LIS", "OSL", "ROM", "VIE", "DUB", "PRG", "ATH", "MAD", "HEL"}
	cities   = []string{"Porto", "Vienna", "Dublin", "Prague", "Athens", "Madrid", "Berlin", "Warsaw", "Zurich", "Milan", "Paris", "London", "Rome", "Oslo"}
	goods    = []string{"kettle", "lamp", "chair", "tent", "camera", "printer", "mirror", "guitar", "blanket", "toaster", "bicycle", "radio", "clock", "ladder"}
	meetings = []string{"budget review", "team lunch", "dentist visit", "design talk", "fire drill", "board call", "audit", "training"}
	streets  = []string{"Mill Road", "High Street", "Park Lane", "River Street", "Church Road", "Garden Way", "Station Road", "Hill Street"}
	volumes  = []string{"mail", "photos", "payroll", "wiki", "orders", "archive", "backoffice", "maps", "reports", "tests"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

// pickTwo draws two different entries.
func pickTwo(r *rand.Rand, from []string) (string, string) {
	i := r.IntN(len(from))
	j := (i + 1 + r.IntN(len(from)-1)) % len(from)
	return from[i], from[j]
}

func drawCode(r *rand.Rand, prefix string) string {
	return fmt.Sprintf("%s%d", prefix, 100+r.IntN(900))
}

func drawDay(r *rand.Rand) string { return fmt.Sprintf("2027-%02d-%02d", 1+r.IntN(12), 1+r.IntN(28)) }

// drawSlashed draws a date that can be read day first or month first.
func drawSlashed(r *rand.Rand) string {
	return fmt.Sprintf("%02d/%02d/2027", 1+r.IntN(12), 1+r.IntN(12))
}
