package help_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"rpcx/commands"
	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire/dialect/all"
)

// TestHelpFits: no line of any help or topic is wider than help.Width; each command has an example, and what -h prints is
// one screen.
func TestHelpFits(t *testing.T) {
	var walk func(name string, d cmdline.Doc)
	walk = func(name string, d cmdline.Doc) {
		for _, brief := range []bool{false, true} {
			text := help.Text(name, d, brief)
			narrow(t, name, text)
			if !strings.Contains(text, "\nExamples\n") {
				t.Errorf("%s has no example", name)
			}
			if lines := strings.Count(text, "\n"); brief && lines > 30 {
				t.Errorf("%s -h has %d lines", name, lines)
			}
		}
		for _, sub := range d.Commands {
			walk(name+" "+sub.Name, sub)
		}
	}
	walk("rpcx", commands.Tree())
	for _, topic := range help.Topics() {
		narrow(t, topic.Name, help.Prose(topic.Text))
	}
}

// TestTopicsAreShort checks that `rpcx help TOPIC` prints at most two screens; agent is one page of a model's context.
func TestTopicsAreShort(t *testing.T) {
	for _, topic := range help.Topics() {
		most := 60
		if topic.Name == "agent" {
			most = 100
		}
		if n := strings.Count(help.Prose(topic.Brief), "\n"); n > most {
			t.Errorf("rpcx help %s has %d lines, at most %d are wanted: {{manual}} begins the reference", topic.Name, n, most)
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

// TestEachDialectHasItsTopic: `rpcx help NAME` tells of each dialect, in a phrase that names it.
func TestEachDialectHasItsTopic(t *testing.T) {
	for _, name := range all.Names() {
		if topic, ok := help.TopicNamed(name); !ok || !strings.HasPrefix(topic.Says, "the dialect "+name+": ") || help.DialectSays(name) == "" {
			t.Errorf("%s: %q", name, topic.Says)
		}
	}
}

// TestCatalogPageIsWhole: rpcx-catalog(5) names each member that the JSON Schema of catalogs has.
func TestCatalogPageIsWhole(t *testing.T) {
	b, err := os.ReadFile("../../wire/catalog/catalog.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type members map[string]json.RawMessage
	var schema struct {
		Properties members
		Defs       map[string]struct{ Properties members } `json:"$defs"`
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	topic, _ := help.TopicNamed("catalog")
	for _, set := range []members{schema.Properties, schema.Defs["method"].Properties} {
		if len(set) == 0 {
			t.Error("the schema has no members")
		}
		for name := range set {
			if !strings.Contains(topic.Text, "\n* "+name+" -- ") && !strings.Contains(topic.Text, "`"+name+"`") {
				t.Errorf("the page says nothing of %q", name)
			}
		}
	}
}
