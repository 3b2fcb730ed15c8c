package help

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect/all"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/program"
	"rpcx/wire/framing"
	"rpcx/wire/serve"
)

// texts contains a file for each topic, NAME.SECTION.txt. Its first line describes the topic. The rest is prose (see
// Parts), in which "# HEADING" starts a section. The text after a line "{{manual}}" is the reference, which only the
// manual and `rpcx help NAME --all` show.
//
//go:embed topics/*.txt
var texts embed.FS

// topicOrder lists the first topics. The others follow by name.
var topicOrder = []string{
	"agent", "endpoints", "params", "output", "trace", "events", "hooks", "sessions", "prompt", "dialects",
	"catalog", "tape", "dialect-file", "validation", "rules", "config", "environment", "files", "security",
}

// referenceMark separates the text of `rpcx help NAME` from the reference.
const referenceMark = "{{manual}}\n"

// A Topic is the text of `rpcx help NAME` and a page of the manual, rpcx-NAME(SECTION).
type Topic struct {
	Name    string `json:"name"`
	Section string `json:"-"`              // the section of the manual
	Says    string `json:"says"`           // one phrase
	Text    string `json:"text,omitempty"` // in the form of Prose
	Brief   string `json:"-"`              // the part of Text that `rpcx help NAME` prints
}

// Page returns the name of the topic's page in the manual, without the section.
func (t Topic) Page() string { return "rpcx-" + t.Name }

// Topics returns all topics in the order of the list.
func Topics() []Topic {
	entries, err := texts.ReadDir("topics")
	if err != nil {
		panic(err) // the directory is embedded
	}
	topics := wire.Map(entries, func(e fs.DirEntry) Topic { return topic(strings.TrimSuffix(e.Name(), ".txt")) })
	place := func(t Topic) int {
		if i := slices.Index(topicOrder, t.Name); i >= 0 {
			return i
		}
		return len(topicOrder)
	}
	slices.SortStableFunc(topics, func(a, b Topic) int { return place(a) - place(b) })
	return topics
}

// TopicNamed returns the topic of that name, or nil.
func TopicNamed(name string) *Topic {
	return wire.Find(Topics(), func(t *Topic) bool { return t.Name == name })
}

// topic returns the topic in an embedded file.
func topic(file string) Topic {
	b, err := texts.ReadFile("topics/" + file + ".txt")
	if err != nil {
		panic(err)
	}
	name, section, _ := strings.Cut(file, ".")
	says, text, _ := strings.Cut(string(b), "\n")
	if strings.Contains(text, "{{rules}}") { // only one topic needs the table, which is slow to make
		text = strings.NewReplacer("{{rules}}", rulesTable(), "{{differences}}", differencesTable()).Replace(text)
	}
	text = strings.Trim(lists().Replace(text), "\n")
	brief, reference, _ := strings.Cut(text, referenceMark)
	return Topic{Name: name, Section: section, Says: says, Text: brief + reference, Brief: brief}
}

// lists replaces placeholders in topics by tables.
func lists() *strings.Replacer {
	return strings.NewReplacer(
		"{{dialects}}", "`"+strings.Join(all.Names(), "`, `")+"`",
		"{{framings}}", "`"+strings.Join(framing.Names(), "`, `")+"`",
		"{{pages}}", "`"+strings.Join(all.Pages().Names(), "`, `")+"`",
		"{{page variables}}", entries(program.Variables(), func(v program.Variable) string { return "$" + v.Name + " -- " + v.Says }),
		"{{page members}}", pageMembers(),
		"{{dialect table}}", entries(all.Names(), func(name string) string { return name + " -- " + DialectSays(name) }),
		"{{demos}}", strings.Join(serve.DemoNames(), ", "),
	)
}

// DialectSays returns a phrase about a dialect from its topic, or "".
func DialectSays(name string) string {
	b, err := texts.ReadFile("topics/" + name + ".7.txt")
	if err != nil {
		return ""
	}
	says, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimPrefix(says, "the "+name+" dialect: ")
}

// entries returns an entry for each element of list, whose lines one returns.
func entries[T any](list []T, one func(v T) string) string {
	return strings.Join(wire.Map(list, func(v T) string { return "* " + one(v) }), "\n")
}

func pageMembers() string {
	return entries(load.Table(), func(m load.Member) string {
		kind := m.Kind
		if m.Choices != nil {
			kind = wire.Phrase(m.Choices, "or")
		}
		if base, _, ok := strings.Cut(kind, " of NAME = "); ok && strings.Contains(m.Says, " = ") {
			kind = base // the description says what NAME and its values are
		}
		separator := ": "
		if strings.HasPrefix(m.Says, "If ") {
			separator = ". "
		}
		return m.Path + " -- " + kind + separator + m.Says
	})
}
