package vector

import (
	"math"
	"math/rand/v2"
)

// Parameters of the graph: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical
// Navigable Small World graphs".
const (
	linksUpper = 16  // links of a row in upper layers
	linksBase  = 32  // links of a row in layer 0
	widthBuild = 100 // rows kept while a row's neighbours are looked for
	widthWalk  = 96  // rows kept by a search, at least
	maxLevel   = 12
)

// graph is a hierarchical navigable small world over the codes of a space. Rows are known by number. It is changed by one
// builder at a time, which holds Space.mu for each change; readers hold it for reading.
type graph struct {
	base   [][]uint32 // by arena: for each row the number of its links in layer 0, then the links
	upper  map[Row][][]uint32
	member []uint64 // bit set of the rows in the graph, removed ones included
	entry  Row
	top    int // layer of entry
	size   int // rows in the graph
	dead   int // of these removed
}

func newGraph() *graph { return &graph{upper: map[Row][][]uint32{}} }

func (g *graph) has(row Row) bool {
	i := int(row) / 64
	return i < len(g.member) && g.member[i]>>(row%64)&1 == 1
}

// admit makes room for a row and makes it a member.
func (g *graph) admit(row Row, level int) {
	for int(row)/64 >= len(g.member) {
		g.member = append(g.member, 0)
	}
	for int(row)/arenaRows >= len(g.base) {
		g.base = append(g.base, make([]uint32, arenaRows*(linksBase+1)))
	}
	g.member[row/64] |= 1 << (row % 64)
	if level > 0 {
		g.upper[row] = make([][]uint32, level)
	}
	g.size++
}

// links returns the links of a row in a layer.
func (g *graph) links(row Row, level int) []uint32 {
	if level > 0 {
		return g.upper[row][level-1]
	}
	l := g.base[int(row)/arenaRows][int(row)%arenaRows*(linksBase+1):]
	return l[1 : 1+l[0]]
}

func (g *graph) setLinks(row Row, level int, links []uint32) {
	if level > 0 {
		g.upper[row][level-1] = append([]uint32(nil), links...)
		return
	}
	l := g.base[int(row)/arenaRows][int(row)%arenaRows*(linksBase+1):]
	l[0] = uint32(copy(l[1:1+linksBase], links))
}

func room(level int) int {
	if level > 0 {
		return linksUpper
	}
	return linksBase
}

// levelOf draws the top layer of a row: geometric with 1/linksUpper, the same for a row number every time.
func levelOf(row Row) int {
	u := rand.New(rand.NewPCG(uint64(row), 0x9E3779B97F4A7C15)).Float64()
	return min(maxLevel, int(-math.Log(1-u)/math.Log(linksUpper)))
}
