package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
	"rpcx/commands/help"
	"rpcx/wire/dialect/all"
)

const (
	blockBegin = "<!-- gen:"
	blockEnd   = "<!-- end -->"
)

// fillBlocks replaces the text between "<!-- gen:NAME -->" and "<!-- end -->". NAME is commands, statuses or dialects (tables),
// speed, examples (all of them), or example TITLE.
func fillBlocks(text []byte, root *cmdline.Command, statuses []cmdline.Status, examples []example) ([]byte, error) {
	var out bytes.Buffer
	rest := string(text)
	for {
		before, after, ok := strings.Cut(rest, blockBegin)
		out.WriteString(before)
		if !ok {
			return out.Bytes(), nil
		}
		name, after, ok := strings.Cut(after, " -->")
		if !ok {
			return nil, fmt.Errorf("README.md: %s without its -->", blockBegin)
		}
		_, rest2, ok := strings.Cut(after, blockEnd)
		if !ok {
			return nil, fmt.Errorf("README.md: the block %q has no %s", name, blockEnd)
		}
		block, err := readmeBlock(name, root, statuses, examples)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "%s%s -->\n%s%s", blockBegin, name, block, blockEnd)
		rest = rest2
	}
}

// exampleBlock matches the first line of an example's block.
var exampleBlock = regexp.MustCompile(`(?m)^` + blockBegin + `example (.*) -->$`)

// shownIn returns the titles of the examples in README.
func shownIn(readme []byte) map[string]bool {
	titles := map[string]bool{}
	for _, m := range exampleBlock.FindAllSubmatch(readme, -1) {
		titles[string(m[1])] = true
	}
	return titles
}

func readmeBlock(name string, root *cmdline.Command, statuses []cmdline.Status, examples []example) (string, error) {
	var b strings.Builder
	switch title, one := strings.CutPrefix(name, "example "); {
	case one:
		for _, e := range examples {
			if e.title == title {
				fmt.Fprintf(&b, "```console\n%s\n```\n", e.text)
				return b.String(), nil
			}
		}
		return "", fmt.Errorf("README.md: no script has the example %q", title)
	case name == "speed":
		return speedText()
	case name == "examples":
		for i, e := range examples {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "%s:\n\n```console\n%s\n```\n", e.title, e.text)
		}
	case name == "commands":
		b.WriteString("| command | what it does |\n| --- | --- |\n")
		root.Walk(nil, func(path []string, d *cmdline.Command) {
			if len(d.Commands) == 0 {
				fmt.Fprintf(&b, "| `%s %s` | %s |\n", strings.Join(path, " "), cell(d.Args), cell(d.Usage))
			}
		})
	case name == "dialects":
		b.WriteString("| dialect | protocol | dialect | protocol |\n| --- | --- | --- | --- |\n")
		for pair := range slices.Chunk(all.Names(), 2) {
			for _, name := range pair {
				fmt.Fprintf(&b, "| [`%s`](man/rpcx-%s.7) | %s ", name, name, cell(help.DialectSays(name)))
			}
			b.WriteString(strings.Repeat("| | ", 2-len(pair)) + "|\n")
		}
	case name == "statuses":
		b.WriteString("| status | name | meaning |\n| --- | --- | --- |\n")
		for _, s := range statuses {
			fmt.Fprintf(&b, "| %d | %s | %s |\n", s.Code, s.Kind, cell(s.Meaning))
		}
	default:
		return "", fmt.Errorf("README.md: there is no block %q", name)
	}
	return b.String(), nil
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
