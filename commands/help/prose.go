package help

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"rpcx/format"
	"rpcx/wire"
)

// Width is the maximum width of help in columns.
const Width = 80

// A Part is one piece of prose: a heading, a paragraph, verbatim lines or a list entry.
type Part struct {
	Kind  PartKind
	Term  string   // the subject of an Entry
	Text  string   // the text of a Heading, a Paragraph or an Entry: one line with backquotes around literal words
	Lines []string // the lines of a Verbatim without their indentation
}

// PartKind is the kind of a Part.
type PartKind int

const (
	Paragraph PartKind = iota
	Heading
	Verbatim
	Entry
)

// Parts splits prose into its parts. Blank lines separate paragraphs. Indented lines are verbatim, "# TEXT" is a
// heading, and "* TERM -- text" starts a list entry.
func Parts(text string) []Part {
	var parts []Part
	for para := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(para, "\n"), "\n")
		if heading, ok := strings.CutPrefix(lines[0], "# "); ok {
			parts = append(parts, Part{Kind: Heading, Text: heading})
			lines = lines[1:]
		}
		if len(lines) > 0 && lines[0] != "" {
			parts = append(parts, paragraph(lines)...)
		}
	}
	return parts
}

func paragraph(lines []string) []Part {
	switch {
	case !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "  ") }):
		return []Part{{Kind: Verbatim, Lines: wire.Map(lines, func(l string) string { return strings.TrimPrefix(l, "  ") })}}
	case !strings.HasPrefix(lines[0], "* "):
		return []Part{{Kind: Paragraph, Text: strings.Join(lines, " ")}}
	}
	var entries []Part
	for _, l := range lines {
		item, ok := strings.CutPrefix(l, "* ")
		if !ok {
			entries[len(entries)-1].Text += " " + strings.TrimSpace(l)
			continue
		}
		term, rest, _ := strings.Cut(item, " -- ")
		entries = append(entries, Part{Kind: Entry, Term: term, Text: rest})
	}
	return entries
}

// Prose formats prose for a terminal in Width columns.
func Prose(text string) string {
	var b strings.Builder
	before := Part{Kind: Heading}
	for i, p := range Parts(text) {
		if i > 0 && !(p.Kind == Entry && before.Kind == Entry) {
			b.WriteString("\n")
		}
		switch p.Kind {
		case Heading:
			b.WriteString(p.Text + "\n")
		case Paragraph:
			row(&b, "", plain(p.Text), 0)
		case Verbatim:
			for _, l := range p.Lines {
				verbatim(&b, l)
			}
		case Entry:
			term := "  " + plain(p.Term)
			for len(term) > Width {
				at := strings.LastIndexByte(term[:Width], ' ')
				if strings.TrimSpace(term[:max(at, 0)]) == "" {
					break
				}
				b.WriteString(term[:at] + "\n")
				term = "    " + term[at+1:]
			}
			row(&b, term, plain(p.Text), 24)
		}
		before = p
	}
	return b.String()
}

// verbatim writes an unchanged line. It folds a wide shell command.
func verbatim(b *strings.Builder, line string) {
	lines := []string{line}
	if isShell(line) {
		lines = format.Fold(line, Width-2)
	}
	for _, l := range lines {
		b.WriteString(strings.TrimRight("  "+l, " ") + "\n")
	}
}

// plain removes the backquotes, which make words bold in the manual.
func plain(s string) string { return strings.ReplaceAll(s, "`", "") }

// row writes two columns, the right one at width. A wide left one gets its own line.
func row(b *strings.Builder, left, right string, width int) {
	if right == "" || left != "" && utf8.RuneCountInString(left) >= width {
		b.WriteString(left + "\n")
		left = ""
	}
	if right != "" {
		format.Wrap(b, fmt.Sprintf("%-*s", width, left), width, right, Width)
	}
}

// isShell reports whether a verbatim line is a shell command: it starts with a prompt or a known program.
func isShell(line string) bool {
	line = strings.TrimPrefix(line, "$ ")
	return slices.ContainsFunc([]string{"rpcx ", "printf ", "jq "}, func(program string) bool { return strings.HasPrefix(line, program) })
}
