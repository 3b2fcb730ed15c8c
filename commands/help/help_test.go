package help_test

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"rpcx/commands"
	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire/dialect/all"
	"rpcx/wire/testkit"
)

// TestHelpFits checks that help fits in help.Width columns and starts with the command's purpose and two examples, and that -h
// prints at most 20 lines, and that no heading is without a text.
func TestHelpFits(t *testing.T) {
	commands.Tree().Walk([]string{"rpcx"}, func(path []string, d *cmdline.Command) {
		name := strings.Join(path, " ")
		for _, brief := range []bool{false, true} {
			text := help.Text(name, d, nil, brief)
			narrow(t, name, text)
			if n := strings.Count(text, "\n"); brief && n > 20 || name == "rpcx" && n > 30 {
				t.Errorf("%s has %d lines:\n%s", name, n, text)
			}
			for part := range strings.SplitSeq(text, "\n\n") {
				if heading.MatchString(part) {
					t.Errorf("%s: nothing follows %q", name, part)
				}
			}
			for _, f := range d.Flags {
				if group := cmp.Or(f.Group, "Flags"); !brief && group != cmdline.GroupCommon && !strings.Contains(text, "\n\n"+group+"\n  ") {
					t.Errorf("%s: no heading %s for --%s", name, group, f.Name)
				}
			}
			usage := strings.Index(text, "\nusage: ")
			if !strings.HasPrefix(text, name+": "+d.Usage) || usage < 0 || name != "rpcx" && strings.Count(text[:usage], "\n  # ") != 2 {
				t.Errorf("%s: the purpose and two examples are not before the usage line:\n%s", name, text[:max(usage, 0)])
			}
		}
	})
	for _, topic := range help.AllTopics() {
		narrow(t, topic.Name, topic.Text)
	}
}

// heading matches a part of a help text that is only a heading.
var heading = regexp.MustCompile(`^[A-Z][a-z ]*\n?$`)

// TestTopicsAreShort checks that `rpcx help TOPIC` prints at most two screens, without Markdown, and that the topic agent has a
// bounded size.
func TestTopicsAreShort(t *testing.T) {
	for _, topic := range help.Topics() {
		most := 60
		if topic.Name == "agent" {
			most = 100
		}
		text := help.Prose(topic.Brief)
		if n := strings.Count(text, "\n"); n > most {
			t.Errorf("rpcx help %s has %d lines, at most %d are wanted: {{manual}} begins the reference", topic.Name, n, most)
		}
		if strings.Contains(text, "**") {
			t.Errorf("rpcx help %s prints **", topic.Name)
		}
	}
}

func narrow(t *testing.T, name, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if n := utf8.RuneCountInString(line); n > help.Width {
			t.Errorf("%s has a line of %d columns: %s", name, n, line)
		}
	}
}

// TestEachDialectHasItsTopic checks that each dialect has a topic with a title.
func TestEachDialectHasItsTopic(t *testing.T) {
	testkit.RaceSkips(t)
	for _, name := range all.Names() {
		if topic := help.TopicNamed(name); topic == nil || !strings.HasPrefix(topic.Says, "the "+name+" dialect: ") || help.DialectSays(name) == "" {
			t.Errorf("%s: %+v", name, topic)
		}
	}
}

// TestCatalogPageIsWhole checks that rpcx-catalog(5) describes each member in the JSON Schema of catalogs.
func TestCatalogPageIsWhole(t *testing.T) {
	b, err := os.ReadFile("../../wire/catalog/catalog.schema.json")
	testkit.OK(t, err)
	type members map[string]json.RawMessage
	var schema struct {
		Properties members
		Defs       map[string]struct{ Properties members } `json:"$defs"`
	}
	testkit.OK(t, json.Unmarshal(b, &schema))
	topic := help.TopicNamed("catalog")
	for _, set := range []members{schema.Properties, schema.Defs["method"].Properties} {
		if len(set) == 0 {
			t.Error("the schema has no members")
		}
		for name := range set {
			if !strings.Contains(topic.Text, "\n* "+name+" -- ") && !strings.Contains(topic.Text, "`"+name+"`") {
				t.Errorf("the page does not describe %q", name)
			}
		}
	}
}
