package help

import (
	"embed"
	"slices"
	"strings"

	"rpcx/wire/dialect/all"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/framing"
	"rpcx/wire/serve"
)

// texts holds a file for each topic, NAME.SECTION.txt: its first line says what it is about, "# HEADING" begins a part of
// it, and the rest is prose, see Prose.
//
//go:embed topics/*.txt
var texts embed.FS

// topicOrder are the topics that come first in the list; those of dialects follow, by their names.
var topicOrder = []string{
	"endpoints", "params", "output", "trace", "events", "hooks", "sessions", "prompt", "dialects",
	"catalog", "tape", "page", "validate", "rules", "config", "environment", "files",
}

// A Topic is what `rpcx help NAME` prints, and a page of the manual, rpcx-NAME(SECTION).
type Topic struct {
	Name    string
	Section string // of the manual
	Says    string // one phrase
	Text    string // Prose
}

// Page returns the name of the topic's page of the manual, without its section.
func (t Topic) Page() string { return "rpcx-" + t.Name }

// Topics returns all topics, in the order in which they are listed.
func Topics() []Topic {
	entries, err := texts.ReadDir("topics")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	topics := make([]Topic, len(entries))
	for i, e := range entries {
		topics[i] = topic(strings.TrimSuffix(e.Name(), ".txt"))
	}
	place := func(t Topic) int {
		if i := slices.Index(topicOrder, t.Name); i >= 0 {
			return i
		}
		return len(topicOrder)
	}
	slices.SortStableFunc(topics, func(a, b Topic) int { return place(a) - place(b) })
	return topics
}

// TopicNamed returns the topic of that name; false where there is none.
func TopicNamed(name string) (Topic, bool) {
	for _, t := range Topics() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// topic reads a topic's file, which is part of the program.
func topic(file string) Topic {
	b, err := texts.ReadFile("topics/" + file + ".txt")
	if err != nil {
		panic(err)
	}
	name, section, _ := strings.Cut(file, ".")
	says, text, _ := strings.Cut(string(b), "\n")
	if strings.Contains(text, "{{rules}}") { // long to make, and of one topic
		text = strings.NewReplacer("{{rules}}", rulesTable(), "{{differences}}", differencesTable()).Replace(text)
	}
	return Topic{Name: name, Section: section, Says: says, Text: strings.Trim(lists().Replace(text), "\n")}
}

// lists replaces the words of a topic that stand for a table of the program.
func lists() *strings.Replacer {
	return strings.NewReplacer(
		"{{dialects}}", "`"+strings.Join(all.Names(), "`, `")+"`",
		"{{framings}}", "`"+strings.Join(framing.Names(), "`, `")+"`",
		"{{pages}}", "`"+strings.Join(page.Names(), "`, `")+"`",
		"{{page variables}}", pageVariables(),
		"{{page members}}", pageMembers(),
		"{{dialect table}}", dialectTable(),
		"{{demos}}", strings.Join(serve.DemoNames(), ", "),
	)
}

// DialectSays is one phrase about a dialect: that of its topic.
func DialectSays(name string) string {
	b, err := texts.ReadFile("topics/" + name + ".7.txt")
	if err != nil {
		return ""
	}
	says, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimPrefix(says, "the dialect "+name+": ")
}

// dialectTable returns the list of the dialects.
func dialectTable() string {
	var b strings.Builder
	for _, name := range all.Names() {
		b.WriteString("* " + name + " -- " + DialectSays(name) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// pageVariables returns the list of the variables that programs of a page have.
func pageVariables() string {
	var b strings.Builder
	for _, v := range program.Variables() {
		b.WriteString("* $" + v.Name + " -- " + v.Says + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// pageMembers returns the list of all that a page may have.
func pageMembers() string {
	var b strings.Builder
	for _, m := range load.Table() {
		kind := m.Kind
		if m.Choices != nil {
			kind = strings.Join(m.Choices, " or ")
		}
		b.WriteString("* " + m.Path + " -- " + kind + ": " + m.Says + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
