package format

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A Listing prints a catalog in human-readable form.
type Listing struct {
	Catalog     *catalog.Catalog
	Conventions catalog.Conventions // those of the dialect
	Width       int                 // the maximum length of lines in columns; 0 for no limit
	Color       bool
}

// Methods returns a table of the methods, with their kinds, their parameters (optional ones in brackets) and their
// descriptions.
func (l Listing) Methods() string {
	c, width, color := l.Catalog, l.Width, l.Color
	var b strings.Builder
	if title := infoTitle(c.Info); title != "" {
		b.WriteString(strong(Cut(title, width), color) + "\n")
		about(&b, c.Info.Extra, width)
		for _, key := range hostWords {
			if val := scan.Get(c.Extra, key); val != nil {
				b.WriteString(Cut(CleanLine(key+": "+string(scan.Compact(nil, val))), width) + "\n")
			}
		}
		b.WriteString("\n")
	}
	title := []string{"NAME"}
	nameCells := func(m *catalog.Method) []string { return []string{CleanLine(m.Name)} }
	if resource := l.Conventions.Resource; resource != nil {
		title = []string{"RESOURCE", "VERB"}
		nameCells = func(m *catalog.Method) []string {
			resource, verb := resource(m)
			return []string{CleanLine(resource), CleanLine(verb)}
		}
	}
	rows := [][]string{append(title, "KIND", "PARAMS", "DESCRIPTION")}
	for i := range c.Methods {
		m := &c.Methods[i]
		rows = append(rows, append(nameCells(m), kindOf(m), summary(parameters(c, m.Params), l.paramsWidth()), CleanLine(m.Description)))
	}
	if len(rows) == 1 {
		b.WriteString("no methods\n")
	} else {
		b.WriteString(Table(rows, width, color))
	}
	if why := CleanLine(c.WhyPartial()); why != "" {
		b.WriteString("\n")
		Wrap(&b, "", 0, "There may be more methods: "+why+".", width)
	}
	return b.String()
}

// hostWords are the members of a catalog's extra with which a HotRepl host describes itself.
var hostWords = []string{"host", "evaluator", "limits"}

// about writes the further members of a peer's description, which follow the title.
func about(b *strings.Builder, extra []byte, width int) {
	for key, val := range scan.Members(extra) {
		text, isText := scan.Text(val)
		if !isText {
			text = string(scan.Compact(nil, val))
		}
		b.WriteString(Cut(CleanLine(scan.Key(key)+": "+text), width) + "\n")
	}
}

func infoTitle(i catalog.Info) string {
	title := CleanLine(strings.TrimSpace(i.Name + " " + i.Version))
	if i.Description == "" {
		return title
	}
	return strings.TrimPrefix(title+": "+CleanLine(i.Description), ": ")
}

func kindOf(m *catalog.Method) string { return CleanLine(string(cmp.Or(m.Kind, catalog.Call))) }

func strong(s string, color bool) string {
	if !color || s == "" {
		return s
	}
	return colorTitle + s + colorOff
}

// paramsWidth returns the maximum width of the column for parameters: half of the screen, or less on a narrow one.
func (l Listing) paramsWidth() int {
	switch {
	case l.Width <= 0:
		return 40
	case l.Width < 80:
		return max(l.Width*2/5, 12)
	}
	return l.Width / 2
}

// summary returns the parameters as one cell that is at most width columns wide.
func summary(params []parameter, width int) string {
	words := wire.Map(params, func(p parameter) string {
		if p.required {
			return p.name
		}
		return "[" + p.name + "]"
	})
	return Cut(strings.Join(words, " "), width)
}

// Table returns rows with aligned columns. The first row contains the titles. No line is longer than width columns (0
// for no limit). The text of cells is not changed otherwise.
func Table(rows [][]string, width int, color bool) string {
	var b strings.Builder
	widths := columnWidths(rows, 0)
	for n, row := range rows {
		line := ""
		for i, cell := range row {
			if line += cell; i < len(widths) && widths[i] > 0 {
				line += strings.Repeat(" ", widths[i]-Width(cell)+2)
			}
		}
		line = Cut(strings.TrimRight(line, " "), width)
		b.WriteString(strong(line, color && n == 0) + "\n")
	}
	return b.String()
}

// Method returns a description of a method's parameters and results, with an example of a call to endpoint.
func (l Listing) Method(m *catalog.Method, endpoint string) string {
	c, width, color := l.Catalog, l.Width, l.Color
	var b strings.Builder
	b.WriteString(strong(CleanLine(m.Name), color) + " (" + kindOf(m) + ")\n")
	for line := range strings.SplitSeq(strings.TrimSpace(Clean(m.Description)), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			Wrap(&b, "  ", 2, line, width)
		}
	}
	params, instead := inside(c, m.Params, "", 1), ""
	switch {
	case m.Params == nil:
		instead = " not described"
	case len(params) == 0:
		instead = " none"
	}
	b.WriteString("\n" + strong("Parameters:", color) + instead + "\n")
	fields(&b, params, width)
	described := func(title string, schema json.RawMessage) {
		titled(&b, title, typeText(schema), width, color)
		fields(&b, parameters(c, schema), width)
	}
	if len(m.Result) > 0 {
		described("Result:", m.Result)
	}
	for _, contentType := range slices.Sorted(maps.Keys(m.Events)) {
		described("Event "+CleanLine(contentType)+":", m.Events[contentType])
	}
	if len(m.Effects) > 0 {
		titled(&b, "Effects:", CleanLine(strings.Join(m.Effects, ", ")), width, color)
	}
	b.WriteString("\n" + strong("Example:", color) + "\n")
	example := []string{CleanLine(QuoteAll(l.usage(m, endpoint)))}
	if width > 0 {
		example = Fold(example[0], width-2)
	}
	for _, line := range example {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// usage returns the words of a command line that calls m.
func (l Listing) usage(m *catalog.Method, endpoint string) []string {
	words := []string{"rpcx", "call"}
	switch {
	case m.Kind == catalog.Stream && !l.Conventions.CallsStream:
		words[1] = "subscribe"
	case m.Kind == catalog.Notify:
		words = append(words, "--notify")
	}
	typed := m.Name
	if l.Conventions.Typed != nil {
		typed = l.Conventions.Typed(m)
	}
	words = append(words, endpoint, typed)
	return append(words, m.Example(l.Catalog, l.Conventions)...)
}

// A Module is a group of methods in a list of modules.
type Module struct {
	Name, Version, Description string
	Methods                    []string
}

// Modules returns a table of a peer's modules. Lines are cut to width columns (0 for no limit).
func Modules(modules []Module, width int, color bool) string {
	rows := [][]string{{"MODULE", "VERSION", "METHODS", "DESCRIPTION"}}
	for _, m := range modules {
		methods := Cut(CleanLine(strings.Join(m.Methods, " ")), 40)
		if len(m.Methods) > 8 {
			methods = strconv.Itoa(len(m.Methods))
		}
		rows = append(rows, []string{CleanLine(m.Name), CleanLine(m.Version), methods, CleanLine(m.Description)})
	}
	return Table(rows, width, color)
}

// Plugin returns a description of a plugin: its functions, its classes with their methods and properties, and its
// constants.
func Plugin(c *catalog.Catalog, width int, color bool) string {
	var b strings.Builder
	if title := infoTitle(c.Info); title != "" {
		b.WriteString(strong(Cut(title, width), color) + "\n\n")
	}
	rows := [][]string{{"FUNCTION", "RUNS IN", "DESCRIPTION"}}
	for i := range c.Methods {
		m := &c.Methods[i]
		if strings.Contains(m.Name, ".") {
			continue
		}
		where := "plugin"
		if scan.Get(m.Extra, "source") != nil {
			where = "host (source)"
		}
		rows = append(rows, []string{CleanLine(m.Name), where, CleanLine(m.Description)})
	}
	if len(rows) > 1 {
		b.WriteString(Table(rows, width, color))
	} else {
		b.WriteString("no functions\n")
	}
	for _, class := range c.Classes {
		b.WriteString(pluginClass(class, width, color))
	}
	rows = [][]string{{"CONSTANT", "VALUE"}}
	for key, val := range scan.Members(c.Constants) {
		rows = append(rows, []string{CleanLine(scan.Key(key)), CleanLine(string(scan.Compact(nil, val)))})
	}
	if len(rows) > 1 {
		b.WriteString("\n" + Table(rows, width, color))
	}
	return b.String()
}

func pluginClass(class []byte, width int, color bool) string {
	rows := [][]string{{"CLASS " + CleanLine(scan.String(scan.Get(class, "name"))), "KIND", "DESCRIPTION"}}
	for _, part := range []struct{ key, kind string }{{"methods", "method"}, {"properties", "property"}} {
		for val := range scan.Elements(scan.Get(class, part.key)) {
			name, says, kind := scan.String(scan.Get(val, "name")), scan.String(scan.Get(val, "description")), part.kind
			if string(scan.Get(val, "settable")) == "true" {
				kind += ", settable"
			} else if kind == "property" {
				kind += ", read-only"
			}
			rows = append(rows, []string{"  " + CleanLine(name), kind, CleanLine(says)})
		}
	}
	return "\n" + Table(rows, width, color)
}
