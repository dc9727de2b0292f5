package recall

import (
	"math"

	"cairn/index/embed"
)

// direction is a unit vector of two values at an angle in degrees.
func direction(degrees float64) embed.Vector {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return embed.Vector{Embedder: embed.MiniLM, Values: []float32{float32(cos), float32(sin)}}
}
