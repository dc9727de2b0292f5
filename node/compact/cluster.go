package compact

// MinCluster is how many experiences a strategy needs at least, MaxCluster how many it is made of at most.
const (
	MinCluster = 4
	MaxCluster = 16
)

// Clusters groups the items 0..n-1. A cluster is an item with all the items that are alike to it, at least MinCluster of them
// together and at most MaxCluster; its first element is that item. Items with the most neighbours come first, among equals
// the one with the lowest number; an item is in one cluster at most. alike is symmetric and is asked once for a pair.
func Clusters(n int, alike func(i, j int) bool) [][]int {
	near := make([][]int, n)
	for i := range n {
		for j := range i {
			if alike(j, i) {
				near[i], near[j] = append(near[i], j), append(near[j], i)
			}
		}
	}
	taken := make([]bool, n)
	var out [][]int
	for {
		var best []int
		for i := range n {
			if taken[i] {
				continue
			}
			if c := cluster(i, near[i], taken); len(c) > len(best) {
				best = c
			}
		}
		if len(best) < MinCluster {
			return out
		}
		for _, i := range best {
			taken[i] = true
		}
		out = append(out, best)
	}
}

func cluster(centre int, near []int, taken []bool) []int {
	out := []int{centre}
	for _, j := range near {
		if !taken[j] && len(out) < MaxCluster {
			out = append(out, j)
		}
	}
	return out
}
