package world

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// solutions hold one plan a family that a person who knows the simulators would write.
var solutions = map[string]string{
	"flight_booking":   `sign_in(user=<user>) -> search_flights(from=<from>, to=<to>, date=<date>) -> book_flight(user=<user>, fare="flex")`,
	"flight_refund":    `open_booking(booking=<booking>) -> cancel_booking(booking=<booking>) -> refund_payment(booking=<booking>)`,
	"paged_search":     `search_items(query=<query>, page=2) -> add_to_cart(item=<item>)`,
	"bank_transfer":    `open_session(owner=<owner>) -> transfer_money(account=<account>, speed="standard")`,
	"forecast":         `wait(pause="long") -> get_forecast(city=<city>)`,
	"ticket_close":     `add_note(ticket=<ticket>) -> assign_ticket(ticket=<ticket>, team="support") -> close_ticket(ticket=<ticket>)`,
	"snapshot_restore": `list_snapshots(volume=<volume>) -> restore_snapshot(volume=<volume>, point="previous")`,
	"data_deletion":    `verify_identity(customer=<customer>, channel="phone") -> export_data(customer=<customer>) -> delete_data(customer=<customer>)`,
	"address_change":   `unlock_order(order=<order>) -> set_address(order=<order>, street=<street>)`,
}

func solution(t Task) string {
	if t.Type == "calendar_event" {
		return `open_calendar(person=<person>) -> add_event(title=<title>, date=<date>, format="` + t.hidden + `")`
	}
	return solutions[t.Type]
}

// tell is a memory that always recalls one text.
type tell func(Task) string

func (f tell) Recall(_ context.Context, _ Agent, t Task) (Recall, error) {
	return Recall{Items: []Item{{ID: "it", Content: f(t)}}}, nil
}
func (tell) Outcome(context.Context, Agent, string, Outcome) error { return nil }
func (tell) Record(context.Context, Agent, Task, Attempt) error    { return nil }

func run(t *testing.T, seed uint64, n int, m Memory) Table {
	t.Helper()
	agents := Fleet()
	eps, err := Run(context.Background(), seed, agents, Tasks(seed, agents, n), m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Tabulate(eps)
}

func TestEveryFamilyCanBeSolved(t *testing.T) {
	got := run(t, 7, 200, tell(solution))
	if got.All.Success != 1 {
		t.Errorf("success with the right plan = %v, want 1", got.All.Success)
	}
}

func TestWithoutMemoryTheWorldIsHard(t *testing.T) {
	for seed := range uint64(5) {
		got := run(t, seed, 400, nil)
		if got.All.Success < .2 || got.All.Success > .4 {
			t.Errorf("seed %d: success without memory = %.3f, want .2 to .4", seed, got.All.Success)
		}
	}
}

func TestHarmfulAdviceFails(t *testing.T) {
	advice := map[string]string{}
	for _, a := range HarmfulAdvice() {
		advice[a.TaskType] = a.Content
	}
	if len(advice) != 5 {
		t.Fatalf("advice for %d families, want 5", len(advice))
	}
	agents := Fleet()
	for _, tasks := range Tasks(3, agents, 100) {
		for _, task := range tasks {
			if advice[task.Type] == "" {
				continue
			}
			ep, err := agents[0].Work(t.Context(), 1, task, tell(func(t Task) string { return advice[t.Type] }))
			if err != nil || ep.Attempt.Success || len(ep.Used) != 1 {
				t.Fatalf("%s: success %v, used %v, err %v; want a followed failure", task.Type, ep.Attempt.Success, ep.Used, err)
			}
			for _, s := range ep.Attempt.Steps {
				if s.Observation.Failed && task.Type != "paged_search" {
					t.Errorf("%s: %v answered %q, want advice that looks right", task.Type, s.Call, s.Observation.Text)
				}
			}
		}
	}
}

func TestSameSeedSameWorld(t *testing.T) {
	agents := Fleet()
	a, b, c := Tasks(4, agents, 20), Tasks(4, agents, 20), Tasks(5, agents, 20)
	texts := func(m map[string][]Task) (out []string) {
		for _, ag := range agents {
			for _, task := range m[ag.ID] {
				out = append(out, task.ID, task.Text, task.hidden)
			}
		}
		return out
	}
	if !reflect.DeepEqual(texts(a), texts(b)) {
		t.Error("the same seed gives other tasks")
	}
	if reflect.DeepEqual(texts(a), texts(c)) {
		t.Error("another seed gives the same tasks")
	}
	if run(t, 4, 50, nil) != run(t, 4, 50, nil) {
		t.Error("the same seed gives other results")
	}
}

func TestSimulatorsRefuse(t *testing.T) {
	task := drawnTask(t, "bank_transfer")
	for _, tc := range []struct {
		name, plan, want string
	}{
		{"unknown tool", `fly()`, `error: 404 no tool "fly" here`},
		{"missing argument", `open_session()`, `error: 422 open_session needs owner`},
		{"unknown argument", `open_session(owner=<owner>, x=1)`, `error: 422 open_session has no argument x`},
		{"wrong value", `open_session(owner=nobody)`, `error: 404 unknown owner "nobody"`},
		{"too early", `transfer_money(account=<account>, speed=standard)`, `error: 401 login required`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plan, ok := ParsePlan(tc.plan)
			if !ok {
				t.Fatalf("no plan in %q", tc.plan)
			}
			for name, v := range plan[0].Args {
				if n, ok := placeholder(v); ok {
					plan[0].Args[name] = task.Values[n]
				}
			}
			if got := Start(&task).Call(plan[0]); got.Text != tc.want || !got.Failed {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
}

func drawnTask(t *testing.T, kind string) Task {
	t.Helper()
	for _, tasks := range Tasks(1, Fleet()[:1], 200) {
		for _, task := range tasks {
			if task.Type == kind {
				return task
			}
		}
	}
	t.Fatalf("no task of %s", kind)
	return Task{}
}

func TestValuesStandInTheText(t *testing.T) {
	for _, tasks := range Tasks(2, Fleet(), 100) {
		for _, task := range tasks {
			for _, tool := range task.Tools {
				for _, a := range tool.Args {
					if v := task.Values[a.Name]; len(a.Options) == 0 && (v == "" || !contains(task.Text, v)) {
						t.Fatalf("%s: value %q of %s is not in %q", task.Type, v, a.Name, task.Text)
					}
					for _, o := range a.Options {
						if contains(task.Text, o) {
							t.Fatalf("%s: the text %q gives %q away", task.Type, task.Text, o)
						}
					}
				}
			}
		}
	}
}

func TestErrorsStopTheRun(t *testing.T) {
	boom := errors.New("boom")
	agents := Fleet()
	_, err := Run(t.Context(), 1, agents, Tasks(1, agents, 5), failing{boom}, nil)
	if !errors.Is(err, boom) {
		t.Errorf("err = %v, want boom", err)
	}
}

type failing struct{ err error }

func (f failing) Recall(context.Context, Agent, Task) (Recall, error)          { return Recall{}, f.err }
func (f failing) Outcome(context.Context, Agent, string, Outcome) error        { return f.err }
func (f failing) Record(ctx context.Context, _ Agent, _ Task, _ Attempt) error { return f.err }
