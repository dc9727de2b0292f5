package store

import (
	"strings"
	"testing"
)

func TestBootstrapHappensOnce(t *testing.T) {
	l := newLab(t)
	var again Bootstrapped
	l.do(KindBootstrap, Bootstrap{Site: "other", Admin: testKey("thief")}, &again)
	if again.Made || again.Site != "site-1" {
		t.Errorf("a second bootstrap answered %+v", again)
	}
	l.mustCheck()
}

func TestTenantRefusals(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	l.do(KindCreateKey, CreateKey{"a1", testKey("k1")}, nil)
	agent := func(id, principal string, keys ...AgentKey) Agent {
		return Agent{ID: id, Principal: principal, Roles: []string{"agent"}, Keys: keys}
	}
	long := strings.Repeat("x", maxName+1)
	bad := "nobody"
	cases := []struct {
		name string
		kind Kind
		body any
		code string
	}{
		{"namespace exists", KindCreateNamespace, CreateNamespace{DefaultNamespace, testKey("n")}, "conflict"},
		{"namespace without a name", KindCreateNamespace, CreateNamespace{"", testKey("n")}, "invalid"},
		{"namespace with a zero byte", KindCreateNamespace, CreateNamespace{"a\x00b", testKey("n")}, "invalid"},
		{"namespace with a key in use", KindCreateNamespace, CreateNamespace{"n2", testKey("k1")}, "conflict"},
		{"principal exists", KindCreatePrincipal, PrincipalID{"alice"}, "conflict"},
		{"principal with a long name", KindCreatePrincipal, PrincipalID{long}, "invalid"},
		{"principal unknown", KindUpdatePrincipal, UpdatePrincipal{ID: "bob"}, "not_found"},
		{"agent exists", KindCreateAgent, agent("a1", "alice"), "conflict"},
		{"agent with a control character", KindCreateAgent, agent("a\n", "alice"), "invalid"},
		{"agent without a principal", KindCreateAgent, agent("a2", ""), "invalid"},
		{"agent with a key in use", KindCreateAgent, agent("a2", "alice", testKey("k1")), "conflict"},
		{"agent with one key twice", KindCreateAgent, agent("a2", "alice", testKey("z"), testKey("z")), "conflict"},
		{"agent with an unknown wish", KindCreateAgent, Agent{ID: "a2", Principal: "p", Share: "sometimes"}, "invalid"},
		{"agent to update unknown", KindUpdateAgent, UpdateAgent{ID: "a9"}, "not_found"},
		{"agent's new wish unknown", KindUpdateAgent, UpdateAgent{ID: "a1", Share: &bad}, "invalid"},
		{"agent to remove unknown", KindRemoveAgent, AgentID{"a9"}, "not_found"},
		{"key in use", KindCreateKey, CreateKey{"a1", testKey("admin")}, "conflict"},
		{"key id in use", KindCreateKey, CreateKey{"a1", AgentKey{ID: "k1", Hash: textHash("fresh")}}, "conflict"},
		{"key of nobody", KindCreateKey, CreateKey{"a9", testKey("k9")}, "not_found"},
		{"key unknown", KindRemoveKey, RemoveKey{"a1", "k9"}, "not_found"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			l.t = t
			before := l.dump()
			l.refuse(tc.kind, tc.body, tc.code)
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
		})
	}
}

func TestKeysLeadToTheirAgent(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	l.do(KindCreateKey, CreateKey{"a1", testKey("k1")}, nil)
	who := func(name string) string {
		found := ""
		l.read(func(v *View, _ *Namespace) {
			ref, err := v.Key(testKey(name).Hash)
			if err != nil {
				t.Fatal(err)
			}
			if ref != nil {
				found = ref.Agent
			}
		})
		return found
	}
	if got := who("k1"); got != "a1" {
		t.Errorf("k1 leads to %q, want a1", got)
	}
	l.do(KindRemoveKey, RemoveKey{"a1", "k1"}, nil)
	if got := who("k1"); got != "" {
		t.Errorf("a removed key leads to %q", got)
	}
	l.do(KindRemoveAgent, AgentID{"a1"}, nil)
	if got := who(l.ns + "a1"); got != "" {
		t.Errorf("a removed agent's key leads to %q", got)
	}
	l.refuse(KindCreateAgent, Agent{ID: "a1", Principal: "mallory"}, "conflict")
	l.mustCheck()
}

func TestRolesMoveTheCountOfJudges(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	roles := []string{"curator"}
	l.do(KindUpdateAgent, UpdateAgent{ID: "a1", Roles: &roles}, nil)
	l.mustCheck()
	roles = []string{"curator", "agent"}
	l.do(KindUpdateAgent, UpdateAgent{ID: "a1", Roles: &roles}, nil)
	l.mustCheck()
	l.do(KindRemoveAgent, AgentID{"a1"}, nil)
	l.mustCheck()
}

// Without an admin nobody could give out keys again, and nothing in the namespace could be changed.
func TestTheLastAdminStays(t *testing.T) {
	agentOnly, admin := []string{"agent"}, []string{"admin"}
	ways := []struct {
		name string
		kind Kind
		body any
	}{
		{"removed", KindRemoveAgent, AgentID{"admin"}},
		{"without the role", KindUpdateAgent, UpdateAgent{ID: "admin", Roles: &agentOnly}},
		{"without a key", KindRemoveKey, RemoveKey{"admin", testKey("admin").ID}},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			l := newLab(t)
			l.agent("a1", "alice")
			before := l.dump()
			l.refuse(way.kind, way.body, "conflict")
			if l.dump() != before {
				t.Error("the refusal changed the state")
			}
			l.do(KindCreateAgent, Agent{ID: "idle", Principal: "alice", Roles: admin}, nil)
			l.refuse(way.kind, way.body, "conflict") // an admin that has no key can do nothing
			l.do(KindCreateKey, CreateKey{"idle", testKey("second")}, nil)
			l.do(way.kind, way.body, nil)
			l.refuse(KindRemoveAgent, AgentID{"idle"}, "conflict")
			l.mustCheck()
		})
	}
}

func TestNamespacesAreApart(t *testing.T) {
	l := newLab(t)
	l.agent("a1", "alice")
	added := l.add("a1", "one")
	l.do(KindCreateNamespace, CreateNamespace{"other", testKey("other")}, nil)
	l.ns = "other"
	if e := l.get(added.ID); e != nil {
		t.Error("another tenant's experience is found by its id")
	}
	l.agent("a1", "alice")
	l.refuse(KindErase, Erase{Receipt: l.id(), Target: Target{ID: added.ID, Owner: 2}}, "not_found")
	if n := l.counter(PoolCounter(2)); n != 0 {
		t.Errorf("the other tenant's pool has %d experiences", n)
	}
	l.mustCheck()
	l.ns = "nowhere"
	l.refuse(KindCreatePrincipal, PrincipalID{"x"}, "not_found")
}

func TestJobsOfAnotherTenantAreOutOfReach(t *testing.T) {
	l := newLab(t)
	a := l.agent("a1", "alice")
	l.agent("b1", "bob")
	added := l.add("a1", "one", share("candidate"))
	job, ok := l.leaseOf(JobNominate, added.ID)
	if !ok {
		t.Fatal("no job")
	}
	l.do(KindCreateNamespace, CreateNamespace{"other", testKey("other")}, nil)
	l.ns = "other"
	l.refuse(KindFinishJob, FinishJob{Job: ref(job)}, "conflict")
	l.ns = DefaultNamespace
	l.refuse(KindSetVectors, SetVectors{Job: ref(job), Target: Target{added.ID, a.Number, 1}}, "conflict")
	l.mustCheck()
}
