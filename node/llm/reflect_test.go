package llm

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func refused() ReflectInput {
	g := flights()
	return ReflectInput{
		TaskType: g.TaskType, Task: g.Task, Failed: g.Attempts[1].Steps, PastTask: "Book a flight from BER to OPO", Past: g.Attempts[0].Steps,
		Rule: "Left out before it: `login`.", Before: []string{"Wait and call `book` again."},
	}
}

func TestReflect(t *testing.T) {
	h := newHarness(t, nil, says(`{"hypothesis":"Call `+"`login`"+` before `+"`book`"+`, since it answered that nobody was logged in."}`))
	got, err := h.Reflect(context.Background(), ann, refused())
	if err != nil || !strings.HasPrefix(got.Text, "Call `login`") || got.Generator != "llm/m-distil/reflect.en@"+PromptVersion {
		t.Fatalf("got %+v, %v", got, err)
	}
	asked := h.script.requests()[0].Messages[1].Content
	for _, want := range []string{"not logged in", `"tool":"login"`, `similar task, "Book a flight from BER to OPO"`, "Left out before it", "Wait and call"} {
		if !strings.Contains(asked, want) {
			t.Errorf("asked %s, lacks %q", asked, want)
		}
	}
}

func TestReflectRefusesWhatWasNotSent(t *testing.T) {
	for name, answer := range map[string]string{
		"unknown call":     `{"hypothesis":"Run pay(amount=1) before the booking."}`,
		"unknown argument": `{"hypothesis":"Run book(seat=1) next time."}`,
		"unknown name":     "{\"hypothesis\":\"Call `refund` before the booking.\"}",
		"tried before":     "{\"hypothesis\":\"Wait and call `book` again.\"}",
		"empty":            `{"hypothesis":" "}`,
		"no JSON":          `call login first`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, nil, says(answer))
			if got, err := h.Reflect(context.Background(), ann, refused()); !errors.Is(err, ErrUnreadable) {
				t.Errorf("got %+v, %v", got, err)
			}
			if n := len(h.script.requests()); n != 2 {
				t.Errorf("asked %d times, want one repair", n)
			}
		})
	}
}

func TestReflectInChineseAndBounds(t *testing.T) {
	h := newHarness(t, change(RoleDistil, func(m *Model) { m.MaxPrompt = 3000 }), says("{\"hypothesis\":\"先调用 `login`，再调用 `book`。\"}"))
	in := refused()
	in.Task, in.TaskType = "预订从北京到上海的航班", ""
	for range 200 {
		in.Past = append(in.Past, Step{Tool: "look", Observation: strings.Repeat("很长的观察结果", 50)})
	}
	if got, err := h.Reflect(context.Background(), ann, in); err != nil || got.Generator != "llm/m-distil/reflect.zh@"+PromptVersion {
		t.Fatalf("got %+v, %v", got, err)
	}
	if asked := h.script.requests()[0].Messages[1].Content; !strings.Contains(asked, "失败的尝试") || len([]rune(asked)) > 4500 {
		t.Errorf("asked in %d characters: %s", len([]rune(asked)), asked)
	}
}
