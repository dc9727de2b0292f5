package acquire

import (
	"slices"
	"strings"
	"unicode"
)

// featureClass orders features by how much they tell a reader, most first.
type featureClass int

const (
	classSchema featureClass = iota // all names of a query
	classValue                      // tool + argument + literal value
	className                       // a table or column of a query
	classFirst                      // a piece of the first command
	classWord                       // a piece of a command
	classOrder                      // a before b
	classTool                       // tool
	classArg                        // tool + argument name
)

// feature is something an attempt did. key is stable; the other fields are for the text.
type feature struct {
	key   string
	class featureClass
	tool  string
	arg   string // argument, or the tool that comes second
	shown string // rendered value or piece of a command
}

// placed is a feature with its place among those of its attempt.
type placed struct {
	feature
	place int
}

// featuresOf lists what an attempt did, each feature once, keyed. A call that failed is nothing a success owes its end to.
func featuresOf(t trail) map[string]placed {
	set := make(map[string]placed)
	add := func(f feature) {
		if _, ok := set[f.key]; !ok {
			set[f.key] = placed{f, len(set)}
		}
	}
	var made []call
	for i, c := range t.calls {
		if t.attempt.Success && c.failed {
			continue
		}
		made = append(made, c)
		add(feature{key: "tool:" + c.tool, class: classTool, tool: c.tool})
		for _, name := range c.names {
			add(feature{key: "arg:" + c.tool + "." + name, class: classArg, tool: c.tool, arg: name})
		}
		if text, ok := c.command(); ok {
			addPieces(add, c, text, i == 0)
			continue
		}
		addValues(add, c)
	}
	addOrders(add, made)
	return set
}

// addValues notes literal values: those the task gave and those an environment made up say nothing about the next task.
func addValues(add func(feature), c call) {
	for _, name := range c.names {
		shown := c.shown[name]
		raw, ok := c.raw[name]
		if !ok || strings.HasPrefix(shown, "<") || len([]rune(shown)) > 60 || freeText[strings.ToLower(name)] || madeUp(raw) {
			continue
		}
		add(feature{key: "value:" + c.tool + "." + name + "=" + shown, class: classValue, tool: c.tool, arg: name, shown: name + "=" + shown})
	}
}

// madeUp reports a value that looks like an identifier of the environment: letters and at least two digits in one word.
func madeUp(value string) bool {
	digits, letters := 0, 0
	for _, r := range value {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return looksLikeID(value) && digits >= 2 && (letters > 0 || digits > 4)
}

func addPieces(add func(feature), c call, text string, first bool) {
	names := schemaNames(text)
	for _, piece := range pieces(text) {
		class := classWord
		if slices.Contains(names, piece) {
			class = className
		}
		add(feature{key: "word:" + c.tool + ":" + piece, class: class, tool: c.tool, shown: piece})
		if first && (len(names) == 0 || class == className || strings.HasPrefix(piece, "SHOW ") || piece == "DESCRIBE") {
			add(feature{key: "first:" + c.tool + ":" + piece, class: classFirst, tool: c.tool, shown: piece})
		}
	}
}

const maxOrderTools = 12

// addOrders notes which tool was first called before which. Attempts with many tools say too much about order.
func addOrders(add func(feature), calls []call) {
	var order []string
	for _, c := range calls {
		if !slices.Contains(order, c.tool) {
			order = append(order, c.tool)
		}
	}
	if len(order) > maxOrderTools {
		return
	}
	for i, a := range order {
		for _, b := range order[i+1:] {
			add(feature{key: "order:" + a + "<" + b, class: classOrder, tool: a, arg: b})
		}
	}
}
