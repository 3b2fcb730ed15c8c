package format

import (
	"strings"

	"rpcx/wire/scan"
)

// fields writes the members of an object: the name, the type, whether it is required, and the description.
func fields(b *strings.Builder, params []parameter, width int) {
	if len(params) == 0 {
		return
	}
	rows := make([][]string, len(params))
	for i, p := range params {
		need := ""
		if p.required {
			need = "required"
		}
		rows[i] = []string{p.name, typeText(p.schema), need, p.remarks()}
	}
	writeRows(b, rows, width)
}

// writeRows writes rows with aligned columns. The text in the last column can continue on further lines. A cell that is
// wider than a third of width does not widen its column.
func writeRows(b *strings.Builder, rows [][]string, width int) {
	const margin, gap = 2, 2
	last := len(rows[0]) - 1
	widths, indent := columnWidths(rows, width), margin
	for _, n := range widths {
		if n > 0 {
			indent += n + gap
		}
	}
	if indent > width*2/3 {
		indent = 3 * margin
	}
	for _, row := range rows {
		line := strings.Repeat(" ", margin)
		for i, cell := range row[:last] {
			if line += cell; widths[i] > 0 || cell != "" {
				line += strings.Repeat(" ", max(widths[i]-Width(cell), 0)+gap)
			}
		}
		if cells := strings.TrimRight(line, " "); width > 0 && Width(cells)+gap > width {
			Wrap(b, strings.Repeat(" ", margin), 3*margin, cells, width)
			line = ""
		}
		switch text := row[last]; {
		case text == "" && line != "":
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		case text != "":
			Wrap(b, line+strings.Repeat(" ", max(indent-Width(line), 0)), indent, text, width)
		}
	}
}

// columnWidths returns the widths of all columns except the last.
func columnWidths(rows [][]string, width int) []int {
	widths := make([]int, len(rows[0])-1)
	for i := range widths {
		for _, row := range rows {
			if n := Width(row[i]); width <= 0 || n <= width/3 {
				widths[i] = max(widths[i], n)
			}
		}
	}
	return widths
}

// titled writes a blank line, a title and a text, on one line if they fit.
func titled(b *strings.Builder, title, text string, width int, color bool) {
	var plain strings.Builder
	Wrap(&plain, title+" ", 2, text, width)
	b.WriteString("\n" + strong(title, color) + strings.TrimPrefix(plain.String(), title))
}

// remarks returns p.when, and the schema's description, allowed values, bounds and default. If there are none of these,
// it returns examples.
func (p parameter) remarks() string {
	var parts []string
	schema := p.schema
	if p.when != "" {
		parts = append(parts, p.when)
	}
	if text, ok := scan.Text(scan.Get(schema, "description")); ok && text != "" {
		parts = append(parts, CleanLine(text))
	}
	if enum := scan.Get(schema, "enum"); enum != nil {
		parts = append(parts, "one of "+list(enum))
	}
	for _, bound := range bounds {
		if value := scan.Get(schema, bound.keyword); scan.Type(value) == 'n' {
			parts = append(parts, bound.says+" "+strings.TrimSuffix(string(value), ".0"))
		}
	}
	if value := scan.Get(schema, "default"); value != nil {
		parts = append(parts, "default "+excerpt(value))
	}
	if given := scan.List(scan.Get(schema, "examples")); len(parts) == 0 && len(given) > 0 {
		more := ""
		if len(given) > maxExamples {
			given, more = given[:maxExamples], ", …"
		}
		parts = append(parts, "such as "+list(scan.ArrayOf(given...))+more)
	}
	return strings.Join(parts, "; ")
}

// maxExamples is the maximum number of examples that a listing shows for a value.
const maxExamples = 8

// bounds are the keywords for bounds that a listing shows.
var bounds = []struct{ keyword, says string }{
	{"minimum", "at least"},
	{"exclusiveMinimum", "more than"},
	{"maximum", "at most"},
	{"exclusiveMaximum", "less than"},
}
