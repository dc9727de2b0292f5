package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// Parameters of the graph: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical
// Navigable Small World graphs".
const (
	linksUpper = 16 // links of a row in upper layers
	linksBase  = 32 // links of a row in layer 0: two lines of the cache
	maxLevel   = 12
	noRow      = ^uint32(0) // ends a list of links that is not full
)

// graph is a hierarchical navigable small world over the codes of a space. Rows are known by number. It is changed by one
// builder at a time, which holds Space.mu for each change; readers hold it for reading, but for the builder itself.
type graph struct {
	base   []*baseLinks // by arena
	upper  []uint32     // blocks of the rows above layer 0: their top layer, then linksUpper links for each layer from 1 on
	member []uint64     // bit set of the rows in the graph, removed ones included
	// twins are the rows with the very values of a row that is linked. They have no links: those of thousands of rows that are all
	// alike would lead to one another and nowhere else.
	twins map[Row][]Row
	twin  []uint64 // bit set of these, as long as needed
	slab  slab     // memory for base
	entry Row
	top   int // layer of entry
	size  int // rows in the graph
	dead  int // of these removed
}

// baseLinks are the links of the rows of an arena.
type baseLinks struct {
	links [][linksBase]uint32 // in layer 0
	upper []uint32            // place of the row's block in graph.upper; 0 for rows of layer 0 alone
}

func newGraph() *graph { return &graph{upper: []uint32{0}, twins: map[Row][]Row{}} }

func (g *graph) has(row Row) bool {
	i := int(row) / 64
	return i < len(g.member) && g.member[i]>>(row%64)&1 == 1
}

// newBase makes the links of arena i.
func (g *graph) newBase(i int) *baseLinks {
	b := g.slab.take(arenaRows*linksBase*4, i, g.own)
	links := unsafe.Slice((*[linksBase]uint32)(unsafe.Pointer(&b[0])), arenaRows)
	for row := range links { // see newArena
		links[row][0] = noRow
	}
	return &baseLinks{links: links, upper: make([]uint32, arenaRows)}
}

// makeRoomIn makes room for a row in a graph. Only the builder changes a graph, so that it may copy while others read.
func (s *Space) makeRoomIn(g *graph, row Row, level int) {
	base := g.base
	for int(row)/arenaRows >= len(base) {
		base = append(slices.Clip(base), g.newBase(len(base)))
	}
	member := slices.Grow(g.member, max(0, int(row)/64+1-len(g.member)))
	upper := slices.Grow(g.upper, 1+level*linksUpper)
	if len(base) == len(g.base) && cap(member) == cap(g.member) && cap(upper) == cap(g.upper) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g.base, g.member, g.upper = base, member, upper
}

// linked reports whether a row is in the graph and not a twin.
func (g *graph) linked(row Row) bool {
	i := int(row) / 64
	return g.has(row) && (i >= len(g.twin) || g.twin[i]>>(row%64)&1 == 0)
}

// join makes a row that was admitted the twin of another.
func (g *graph) join(with, row Row) {
	g.twins[with] = append(g.twins[with], row)
	if n := int(row)/64 + 1 - len(g.twin); n > 0 {
		g.twin = append(g.twin, make([]uint64, n)...)
	}
	g.twin[row/64] |= 1 << (row % 64)
}

// admit makes a row a member, and room for it where there is none.
func (g *graph) admit(row Row, level int) {
	for int(row)/64 >= len(g.member) {
		g.member = append(g.member, 0)
	}
	for int(row)/arenaRows >= len(g.base) {
		g.base = append(g.base, g.newBase(len(g.base)))
	}
	g.member[row/64] |= 1 << (row % 64)
	a := g.base[int(row)/arenaRows]
	a.links[row%arenaRows][0] = noRow
	a.upper[row%arenaRows] = 0
	if level > 0 {
		a.upper[row%arenaRows] = uint32(len(g.upper))
		g.upper = append(g.upper, uint32(level))
		for range level * linksUpper {
			g.upper = append(g.upper, noRow)
		}
	}
	g.size++
}

// levelOf returns the top layer of a row that is in the graph.
func (g *graph) levelOf(row Row) int {
	if at := g.base[int(row)/arenaRows].upper[row%arenaRows]; at > 0 {
		return int(g.upper[at])
	}
	return 0
}

// block returns the places for the links of a row in a layer. Those behind the first noRow are without meaning.
func (g *graph) block(row Row, level int) []uint32 {
	a := g.base[int(row)/arenaRows]
	if level == 0 {
		return a.links[row%arenaRows][:]
	}
	at := int(a.upper[row%arenaRows]) + 1 + (level-1)*linksUpper
	return g.upper[at : at+linksUpper : at+linksUpper]
}

// links returns the links of a row in a layer.
func (g *graph) links(row Row, level int) []uint32 {
	b := g.block(row, level)
	for i, link := range b {
		if link == noRow {
			return b[:i]
		}
	}
	return b
}

func (g *graph) setLinks(row Row, level int, links []uint32) {
	b := g.block(row, level)
	if n := copy(b, links); n < len(b) {
		b[n] = noRow
	}
}

func room(level int) int {
	if level > 0 {
		return linksUpper
	}
	return linksBase
}

// Widths grow with the graph: among more rows that are nearly as near, a walk of the same width ends farther from the best. With 100 rows kept in
// building and 96 in searching at all sizes, recall@10 was .998 among 100,000 rows, .941 among 250,000 and .728 among a million.
const (
	widthBuild, widthBuildMost = 100, 300 // rows kept while a row's neighbours are looked for
	widthWalk, widthWalkMost   = 96, 512  // rows kept by a search; half as many again with a filter
	rowsBuild, rowsWalk        = 1 << 10, 1 << 11
)

// buildWidth is the width for linking a row into a graph of size rows: one for every 1,024.
func buildWidth(size int) int { return min(max(widthBuild, size/rowsBuild), widthBuildMost) }

// walkWidth is the width of a search that names none: one for every 2,048.
func walkWidth(size int) int { return min(max(widthWalk, size/rowsWalk), widthWalkMost) }

// drawLevel draws the top layer of a row: geometric with 1/linksUpper, the same for a row number every time.
func drawLevel(row Row) int {
	u := rand.New(rand.NewPCG(uint64(row), 0x9E3779B97F4A7C15)).Float64()
	return min(maxLevel, int(-math.Log(1-u)/math.Log(linksUpper)))
}
