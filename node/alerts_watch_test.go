package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cairn/node/api"
	"cairn/node/store"
)

// TestAlertChanges compares what a look finds with what stands.
func TestAlertChanges(t *testing.T) {
	const now, young = monitorNow, monitorNow - hourMS
	sign := func(kind string, members ...string) api.Alert {
		a := alert(kind, 1.5, .5, members, nil, "x")
		a.ID = alertID(&a)
		return a
	}
	var many []api.Alert
	old := map[string]store.StandingAlert{}
	for i := range 2 * store.MaxAlertChanges {
		many = append(many, sign(fmt.Sprint("kind-", i)))
		old[fmt.Sprintf("old-%03d", i)] = store.StandingAlert{At: young}
	}
	var rings []api.Alert
	ringsStand := map[string]store.StandingAlert{}
	for i := range alertsPerKind + 10 {
		a := sign("reciprocity", "a", fmt.Sprintf("b%02d", i))
		if rings = append(rings, a); i < alertsPerKind-1 {
			ringsStand[a.ID] = store.StandingAlert{Kind: "reciprocity", At: young}
		}
	}
	stands := func(at int64, names ...string) map[string]store.StandingAlert {
		out := map[string]store.StandingAlert{}
		for _, name := range names {
			out[name] = store.StandingAlert{Kind: name, At: at}
		}
		return out
	}
	for _, c := range []struct {
		name          string
		standing      map[string]store.StandingAlert
		found         []api.Alert
		raise, clears []string
		count         int // of all changes, where they are many
	}{
		{"all is well", nil, nil, nil, nil, 0},
		{"begins", nil, []api.Alert{sign("duplicates")}, []string{"duplicates"}, nil, 0},
		{"goes on", stands(young, "duplicates"), []api.Alert{sign("duplicates")}, nil, nil, 0},
		{"ends", stands(young, "duplicates"), nil, nil, []string{"duplicates"}, 0},
		{"ends too soon", stands(young+1, "duplicates"), nil, nil, nil, 0},
		{"another begins", stands(now, "duplicates"), []api.Alert{sign("duplicates"), sign("contrary_reports", "principal:a")}, []string{"contrary_reports/principal:a"}, nil, 0},
		{"of one node's index", nil, []api.Alert{sign(kindIndexRecall), sign(kindIndexRecall, "ann-1")}, nil, nil, 0},
		{"too many at once", nil, many, nil, nil, store.MaxAlertChanges},
		{"too many end", old, many, nil, nil, store.MaxAlertChanges},
		{"too many of a kind", ringsStand, rings, []string{fmt.Sprintf("reciprocity/a+b%02d", alertsPerKind-1)}, nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := alertChanges(c.standing, c.found, young)
			var raised []string
			for _, a := range got.Raise {
				raised = append(raised, a.Name)
				if a.Value != 1_500_000 || a.Limit != 500_000 || a.Severity != "warning" {
					t.Errorf("raised %+v", a)
				}
			}
			if n := len(got.Raise) + len(got.Clear); c.count > 0 && n != c.count {
				t.Errorf("%d changes, want %d", n, c.count)
			}
			if c.count == 0 && (!slices.Equal(raised, c.raise) || !slices.Equal(got.Clear, c.clears)) {
				t.Errorf("raised %v and cleared %v, want %v and %v", raised, got.Clear, c.raise, c.clears)
			}
		})
	}
}

// TestAlertIDs: a sign is known by what it is about, not by how strong it is or by all that it lists.
func TestAlertIDs(t *testing.T) {
	for want, a := range map[string]api.Alert{
		"burst/e1":                            {Kind: "burst", Members: []string{"principal:a"}, Experiences: []string{"e1"}},
		"evidence_concentration/e1":           {Kind: "evidence_concentration", Members: []string{"principal:b"}, Experiences: []string{"e1"}},
		"reciprocity/principal:a+principal:b": {Kind: "reciprocity", Members: []string{"principal:a", "principal:b"}},
		"contrary_reports/principal:a":        {Kind: "contrary_reports", Members: []string{"principal:a"}, Experiences: []string{"e1", "e2"}},
		"group_division/principal:a":          {Kind: "group_division", Members: []string{"principal:a", "principal:c"}},
		"recall_concentration/principal:a":    {Kind: "recall_concentration", Members: []string{"principal:a"}, Experiences: []string{"e1"}},
		"index_recall/ann-1":                  {Kind: kindIndexRecall, Members: []string{"ann-1"}},
		"index_recall":                        {Kind: kindIndexRecall},
		"low_utility":                         {Kind: "low_utility", Experiences: []string{"e1", "e2"}},
		"burst":                               {Kind: "burst"},
		"reciprocity":                         {Kind: "reciprocity"},
	} {
		stronger := a
		stronger.Value, stronger.Detail = 7, "worse"
		if got := alertID(&a); got != want || alertID(&stronger) != want {
			t.Errorf("got %s and %s, want %s", got, alertID(&stronger), want)
		}
	}
}

// look lets a node look for alerts once.
func (s *site) look() {
	s.t.Helper()
	if err := s.node.lookForAlerts(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// followFeed reads what a caller is told after a cursor, up to the event about one experience.
func followFeed(t *testing.T, n *Node, c api.Caller, cursor, last string) (out []api.FeedMessage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	feed, err := n.Feed(ctx, c, cursor, api.FeedFilter{})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	for {
		m, err := feed.Next(ctx)
		if err != nil {
			t.Fatalf("feed after %d messages: %v", len(out), err)
		}
		if m.Type != "event" {
			continue
		}
		if m.Experience == last {
			return out
		}
		out = append(out, m)
	}
}

func alertsOf(list []api.FeedMessage) (out []api.FeedMessage) {
	for _, m := range list {
		if strings.HasPrefix(m.Event, alertEvents) {
			out = append(out, m)
		}
	}
	return out
}

// mark adds an own lesson of the caller, whose event ends what followFeed reads.
func (s *site) mark(c api.Caller, i int) string {
	s.t.Helper()
	return s.add(c, lesson(i), api.Write{}).Value.ID
}

// TestAlertsOnTheFeed: a sign of ill health opens one alert and its end closes it, for those who look after the namespace
// and nobody else, and a cursor goes on between the two.
func TestAlertsOnTheFeed(t *testing.T) {
	s := &site{t: t, dir: t.TempDir(), config: func(c *Config) { c.AlertStands = time.Nanosecond }}
	s.start()
	t.Cleanup(s.stop)
	ann, auditor := s.agent("ann-1", "ann"), s.auditor()
	start := s.cursor()
	s.look()
	for range emptyRecalls + 1 {
		s.report(ann, s.recall(ann, task), false)
	}
	for range 3 {
		s.look()
	}
	alerts, err := s.node.Alerts(context.Background(), s.admin)
	if err != nil || len(alerts.Items) != 1 || alerts.Items[0].ID != "empty_recalls" || alerts.Items[0].RaisedAt == "" {
		t.Fatalf("alerts %+v, %v; want the one that was raised", alerts.Items, err)
	}
	if text := s.scrape(); !strings.Contains(text, `cairn_alerts{namespace="default"} 1`) {
		t.Error("the alert is not in the metrics")
	}
	s.record(ann, booking(task, true))
	s.indexed()
	for range emptyRecalls + 2 {
		s.report(ann, s.recall(ann, task), true)
	}
	for range 3 {
		s.look()
	}
	end := s.mark(ann, 1)
	for name, c := range map[string]api.Caller{"admin": s.admin, "auditor": auditor} {
		got := alertsOf(followFeed(t, s.node, c, start, end))
		if len(got) != 2 || got[0].Event != "alert.raised" || got[1].Event != "alert.cleared" {
			t.Fatalf("%s was told %+v", name, got)
		}
		d := got[0].Data
		if d["alert"] != "empty_recalls" || d["kind"] != "empty_recalls" || d["severity"] != "warning" || d["value"] != 1. || d["limit"] != emptyLimit {
			t.Errorf("raised with %v", d)
		}
		if list, ok := d["experiences"].([]string); !ok || len(list) != 0 {
			t.Errorf("experiences are %#v, want an empty list", d["experiences"])
		}
		if rest := alertsOf(followFeed(t, s.node, c, got[0].Cursor, end)); len(rest) != 1 || rest[0].Cursor != got[1].Cursor {
			t.Errorf("after the cursor of the first: %+v", rest)
		}
	}
	if got := followFeed(t, s.node, ann, start, end); len(got) == 0 || len(alertsOf(got)) != 0 {
		t.Errorf("an agent was told %+v", got)
	}
	if alerts, err := s.node.Alerts(context.Background(), s.admin); err != nil || len(alerts.Items) != 0 {
		t.Errorf("alerts %+v, %v", alerts.Items, err)
	}
}

// cursor is the place after what there is now.
func (s *site) cursor() string {
	s.t.Helper()
	feed, err := s.node.Feed(context.Background(), s.admin, "", api.FeedFilter{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer feed.Close()
	m, err := feed.Next(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	return m.Cursor
}

// TestAnAlertNamesWhatToLookAt: the experiences of a sign are on the feed as ids.
func TestAnAlertNamesWhatToLookAt(t *testing.T) {
	s := newSite(t)
	ann := s.agent("ann-1", "ann")
	start, id := s.cursor(), s.mark(ann, 1)
	v, ns, err := s.node.openFor(s.admin)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	a := alert("low_utility", .3, utilityLimit, []string{"principal:ann"}, []string{id}, "x")
	a.ID = alertID(&a)
	body := alertChanges(nil, []api.Alert{a}, v.Now())
	body.Seen = v.Index()
	if _, err := s.node.propose(context.Background(), api.Caller{}, api.Write{}, store.KindAlerts, ns.ID, body); err != nil {
		t.Fatal(err)
	}
	got := alertsOf(followFeed(t, s.node, s.admin, start, s.mark(ann, 2)))
	if len(got) != 1 || !slices.Equal(got[0].Data["experiences"].([]string), []string{id}) || !slices.Equal(got[0].Data["members"].([]string), []string{"principal:ann"}) {
		t.Errorf("told %+v", got)
	}
}

// TestAlertsStayInTheirNamespace: an admin of another namespace hears of its own alerts only.
func TestAlertsStayInTheirNamespace(t *testing.T) {
	s := newSite(t)
	made, err := s.node.CreateNamespace(context.Background(), s.admin, api.CreateNamespace{ID: "other"}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	foreign := s.caller(*made.Value.AdminKey)
	start := s.cursor()
	ann := s.agent("ann-1", "ann")
	for range emptyRecalls + 1 {
		s.report(ann, s.recall(ann, task), false)
	}
	s.look()
	ours, theirs := s.mark(s.admin, 1), s.mark(foreign, 1)
	if got := alertsOf(followFeed(t, s.node, s.admin, start, ours)); len(got) != 1 {
		t.Errorf("the admin was told %+v", got)
	}
	if got := alertsOf(followFeed(t, s.node, foreign, start, theirs)); len(got) != 0 {
		t.Errorf("the admin of another namespace was told %+v", got)
	}
	for name, want := range map[string]int{store.DefaultNamespace: 1, "other": 0} {
		v, ns, err := s.node.openFor(api.Caller{Namespace: name})
		if err != nil {
			t.Fatal(err)
		}
		if standing, err := v.Alerts(ns); err != nil || len(standing) != want {
			t.Errorf("%s: %v stand, %v", name, standing, err)
		}
		v.Close()
	}
}

// TestTheLeaderLooksByItself: nobody asks, and the alert comes.
func TestTheLeaderLooksByItself(t *testing.T) {
	s := &site{t: t, dir: t.TempDir(), config: func(c *Config) { c.AlertEvery = time.Millisecond }}
	s.start()
	t.Cleanup(s.stop)
	ann := s.agent("ann-1", "ann")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	feed, err := s.node.Feed(ctx, s.admin, s.cursor(), api.FeedFilter{Types: []string{"alert.raised"}})
	if err != nil {
		t.Fatal(err)
	}
	defer feed.Close()
	for range emptyRecalls + 1 {
		s.report(ann, s.recall(ann, task), false)
	}
	for {
		m, err := feed.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.Event == "alert.raised" && m.Data["kind"] == "empty_recalls" {
			return
		}
	}
}

// TestALeaderChangeRaisesNothingTwice: each node looks in turn, also while it does not lead, and one alert comes of it.
func TestALeaderChangeRaisesNothingTwice(t *testing.T) {
	ctx := context.Background()
	s := newTrio(t)
	made, err := s.nodes[0].CreateAgent(ctx, s.admin, api.CreateAgent{ID: "ann-1"}, api.Write{})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := s.nodes[0].Authenticate(ctx, *made.Value.Key)
	if err != nil {
		t.Fatal(err)
	}
	first := &site{t: t, node: s.nodes[0], admin: s.admin}
	start := first.cursor()
	for range emptyRecalls + 1 {
		first.report(ann, first.recall(ann, task), false)
	}
	s.level()
	errs := make(chan error)
	for _, n := range s.nodes { // all at once, from the same state
		go func() { errs <- n.lookForAlerts(ctx) }()
	}
	for range s.nodes {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for range s.nodes {
		if _, err := s.nodes[0].TransferLeadership(ctx, s.admin, api.Transfer{}); err != nil {
			t.Fatal(err)
		}
		s.level()
		for _, n := range s.nodes {
			for err := errRetry; err != nil; {
				if err = n.lookForAlerts(ctx); err != nil && codeOf(err) != api.CodeUnavailable {
					t.Fatal(err)
				}
			}
		}
	}
	done, err := s.write(s.nodes[0], ann, "end")
	if err != nil {
		t.Fatal(err)
	}
	s.level()
	for i, n := range s.nodes {
		got := alertsOf(followFeed(t, n, s.admin, start, done.Value.ID))
		if len(got) != 1 || got[0].Event != "alert.raised" {
			t.Errorf("node %d tells %+v, want one alert", i, got)
		}
	}
}

var errRetry = errors.New("not asked yet")
