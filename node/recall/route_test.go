package recall

import (
	"fmt"
	"testing"

	"cairn/index/embed"
)

// tilted is a vector that points mostly along one axis.
func tilted(axis int, tilt float32) embed.Vector {
	v := make([]float32, embed.Dims)
	v[axis], v[100] = 1, tilt
	return embed.Vector{Embedder: embed.MiniLM, Values: v}
}

func TestRoute(t *testing.T) {
	var r Router
	if got := r.Route("ann", tilted(0, 0)); got != (Route{}) || !got.Weak() {
		t.Errorf("nothing is known: %+v", got)
	}
	for i := range 4 {
		r.Add("ann", fmt.Sprint("a", i), "air", tilted(0, float32(i)/10))
		r.Add("ann", fmt.Sprint("s", i), "sql", tilted(1, float32(i)/10))
	}
	r.Add("bob", "b", "bob", tilted(0, 0))
	r.Add("ann", "none", "", tilted(0, 0))
	if got := r.Route("ann", tilted(0, .1)); got.TaskType != "air" || got.Weak() {
		t.Errorf("got %+v, want air", got)
	}
	if got := r.Route("ann", tilted(1, .1)); got.TaskType != "sql" {
		t.Errorf("got %+v, want sql", got)
	}
	both := tilted(0, 0)
	both.Values[1] = 1
	if got := r.Route("ann", both); !got.Weak() && got.Share > .9 {
		t.Errorf("a task between two types is not sure: %+v", got)
	}
	if got := r.Route("ann", embed.Vector{Embedder: embed.E5, Values: tilted(0, 0).Values}); got.TaskType != "" {
		t.Errorf("spaces were mixed: %+v", got)
	}
	for i := range 4 {
		r.Add("ann", fmt.Sprint("a", i), "moved", tilted(0, float32(i)/10))
	}
	if got := r.Route("ann", tilted(0, .1)); got.TaskType != "moved" {
		t.Errorf("a known task is replaced: %+v", got)
	}
	if got := r.Route("ann", tilted(7, 0)); got.TaskType == "" || !got.Weak() {
		t.Errorf("a task like none: %+v, want a weak vote", got)
	}
	r.Remove("bob", "none")
	r.Remove("bob", "b")
	if got := r.Route("bob", tilted(0, 0)); got != (Route{}) {
		t.Errorf("removed: %+v", got)
	}
	r.Forget("ann")
	if got := r.Route("ann", tilted(0, .1)); got != (Route{}) {
		t.Errorf("forgotten: %+v", got)
	}
}

func TestRouterIsCleared(t *testing.T) {
	var r Router
	r.Add("ann", "a", "x", tilted(0, 0))
	r.Clear()
	if got := r.Route("ann", tilted(0, 0)); got != (Route{}) {
		t.Errorf("cleared: %+v", got)
	}
}

func TestRouterIsBounded(t *testing.T) {
	var r Router
	v := tilted(0, 0)
	for i := range maxTasks + 10 {
		r.Add("ann", fmt.Sprint(i), "x", v)
	}
	if n := len(r.agents["ann"]); n != maxTasks {
		t.Errorf("%d tasks, want %d", n, maxTasks)
	}
}
