package store

// barred are the commands that an agent of a suspended principal may not give: whatever others would see, or would be judged
// by. Erasing one's own stays open.
var barred = map[Kind]bool{
	KindRecordTrajectory: true, KindAddExperience: true, KindPatchExperience: true, KindRestore: true, KindOutcome: true, KindReflect: true, KindRetried: true,
	KindRequestNomination: true, KindCurate: true, KindDecidePromotion: true, KindSample: true,
}

// suspended refuses a command of an agent whose principal is suspended. Administrators are never locked out.
func (t *txn) suspended() *Reject {
	if t.command.Actor == "" || !barred[t.command.Kind] {
		return nil
	}
	a, ok := t.agent(t.command.Actor)
	if !ok || a.administers() {
		return nil // the handler knows what to say about an agent that was removed
	}
	if p, ok := t.principal(a.Principal); ok && p.Suspended {
		return reject("denied", "principal "+a.Principal+" is suspended: an admin can lift it")
	}
	return nil
}
