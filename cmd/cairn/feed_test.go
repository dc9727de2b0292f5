package main

import (
	"bytes"
	"strings"
	"testing"

	"cairn/node/api"
)

// TestFeedSaysWhatAnEventIsAbout: an experience by its id, an alert by its name.
func TestFeedSaysWhatAnEventIsAbout(t *testing.T) {
	for want, m := range map[string]api.FeedMessage{
		"experience.promoted      e1 ":                            {Type: "event", Event: "experience.promoted", Experience: "e1", Data: map[string]any{"trust": .6}},
		"alert.raised             contrary_reports/principal:bo ": {Type: "event", Event: "alert.raised", Data: map[string]any{"alert": "contrary_reports/principal:bo"}},
		"read /v1/meta":  {Type: "gap", From: "1:1.0", To: "1:9.0", Snapshot: "/v1/meta"},
		"welcome  1:9.0": {Type: "welcome", Cursor: "1:9.0"},
	} {
		var out bytes.Buffer
		a := &app{stdout: &out, globals: &globals{}}
		if err := a.printMessage(m); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("printed %q, %v, lacks %q", out.String(), err, want)
		}
	}
}
