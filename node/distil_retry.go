package node

import (
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"cairn/node/acquire"
	"cairn/node/store"
)

const reflectionFeature = "reflection/"

// withRetries adds the lessons of retries that succeeded. They are made from what was recorded, also where the group's own
// lenses leave an attempt out as recorded again, and take the place of a lesson that says the same less well.
func (d *distillation) withRetries(drafts []acquire.Draft) ([]acquire.Draft, error) {
	reflections, err := d.view.ReflectionsIn(d.ns, d.traj.Owner, d.traj.ID)
	if err != nil {
		return nil, err
	}
	group := d.group
	group.Attempts = d.every
	for _, r := range reflections {
		if r.Status != store.ReflectionSolved || r.Success < 0 {
			continue
		}
		retry, ok := acquire.Retried(group, r.Failures, r.Success, reflectionFeature+r.ID.String())
		if !ok {
			d.discard(acquire.ReasonNoLens, "reflection: nothing repeatable tells the retry from the failure")
			continue
		}
		drafts = slices.DeleteFunc(drafts, func(x acquire.Draft) bool { return acquire.Covered(x, retry) })
		drafts = append([]acquire.Draft{retry}, drafts...)
	}
	return drafts, nil
}

// reflectionOf is the reflection that a draft tells of.
func reflectionOf(d acquire.Draft) []store.ID {
	name, ok := strings.CutPrefix(d.Feature, reflectionFeature)
	id, err := ulid.ParseStrict(name)
	if !ok || d.Lens != acquire.LensReflection || err != nil {
		return nil
	}
	return []store.ID{id}
}
