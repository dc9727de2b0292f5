package acquire

import (
	"strings"
	"unicode"
)

// tokens splits text into lower-case words; every Han character is a word of its own.
func tokens(s string) []string {
	var out []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			out = append(out, word.String())
			word.Reset()
		}
	}
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Han, r):
			flush()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			word.WriteRune(unicode.ToLower(r))
		default:
			flush()
		}
	}
	flush()
	return out
}

// common words that name no topic.
var stopWords = setOf(`a an the and or but of to in on at by for from with without into onto over under up down out off as is are was were be been
	being am do does did done have has had having will would shall should can could may might must not no nor so than then that this these those
	there here it its i you he she we they me my your his her our their them us who whom which what when where why how all any each every some
	such only own same too very just also please want wants need needs make makes made get gets got give gives using use used find show list
	print let lets it's don't about after again before between both during few more most other once if else while because until against through
	first last next new like per via etc one two three`)

func setOf(s string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// keywords picks between MinKeywords and MaxKeywords words for a draft: its tools, then what its scenario is about, then
// what the task type and the arguments are called.
func keywords(scenario, taskType string, tools, arguments []string) []string {
	var out []string
	seen := make(map[string]bool)
	add := func(word string, limit int) {
		word = strings.ToLower(strings.TrimSpace(word))
		if n := len([]rune(word)); len(out) < limit && n >= 2 && n <= 40 && !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	for _, tool := range tools {
		add(tool, 2)
	}
	for _, topic := range topics(scenario) {
		add(topic, MaxKeywords)
	}
	for _, part := range append(words(taskType), arguments...) {
		add(part, MinKeywords)
	}
	for _, filler := range []string{"task", "plan", "experience"} {
		add(filler, MinKeywords)
	}
	return out
}

// topics are the content words of a scenario in order: no placeholders, stop words or numbers; Han in runs of at most
// four characters.
func topics(scenario string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(withoutPlaceholders(scenario), notWord) {
		runes := []rune(field)
		if unicode.Is(unicode.Han, runes[0]) {
			for i := 0; i < len(runes); i += 4 {
				out = append(out, string(runes[i:min(i+4, len(runes))]))
			}
			continue
		}
		word := strings.ToLower(field)
		if len(word) >= 4 && !stopWords[word] && !isNumber(word) {
			out = append(out, word)
		}
	}
	return out
}

// hanParticles separate words in Chinese and name no topic themselves.
const hanParticles = "的了和与及或在从到为把被给将请对于向以用让就都是我你他她它们这那个"

func notWord(r rune) bool {
	return notInWord(r) || strings.ContainsRune(hanParticles, r)
}

func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-'
}

func withoutPlaceholders(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '<')
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start:], '>')
		if end < 0 || end > 40 || strings.ContainsAny(s[start:start+end], " \n") {
			b.WriteString(s[:start+1])
			s = s[start+1:]
			continue
		}
		b.WriteString(s[:start])
		b.WriteByte(' ')
		s = s[start+end+1:]
	}
	return b.String() + s
}
