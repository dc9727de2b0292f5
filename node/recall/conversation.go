package recall

import "strings"

// Message is one turn of a conversation.
type Message struct {
	Role    string // "user" for what the one who asks says; other roles are not read
	Content string
}

// Query makes a task of a conversation: what the user said last, and as its context how the user began, where that is
// another turn. What assistants, tools and system prompts say is not read: it may hold anything, recalled texts too. task is
// empty when the user said nothing.
func Query(messages []Message) (task, context string) {
	first := ""
	for _, m := range messages {
		text := strings.TrimSpace(m.Content)
		if m.Role != "user" || text == "" {
			continue
		}
		if first == "" {
			first = text
		}
		task = text
	}
	if first != task {
		context = first
	}
	return task, context
}
