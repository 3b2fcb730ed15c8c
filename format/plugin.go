package format

import (
	"strings"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// Plugin describes a plugin: its functions, its classes with their methods and properties, its constants.
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
		writeTable(&b, "", rows, width, color)
	} else {
		b.WriteString("no functions\n")
	}
	for _, class := range c.Classes {
		pluginClass(&b, class, width, color)
	}
	rows = [][]string{{"CONSTANT", "VALUE"}}
	for key, val := range scan.Members(c.Constants) {
		rows = append(rows, []string{CleanLine(scan.Key(key)), CleanLine(string(scan.Compact(nil, val)))})
	}
	if len(rows) > 1 {
		b.WriteString("\n")
		writeTable(&b, "", rows, width, color)
	}
	return b.String()
}

// pluginClass writes a class as the plugin describes it.
func pluginClass(b *strings.Builder, class []byte, width int, color bool) {
	name, _ := scan.Text(scan.Get(class, "name"))
	rows := [][]string{{"CLASS " + CleanLine(name), "KIND", "DESCRIPTION"}}
	for _, part := range []struct{ key, kind string }{{"methods", "method"}, {"properties", "property"}} {
		for val := range scan.Elements(scan.Get(class, part.key)) {
			name, _ := scan.Text(scan.Get(val, "name"))
			says, _ := scan.Text(scan.Get(val, "description"))
			kind := part.kind
			if string(scan.Get(val, "settable")) == "true" {
				kind += ", settable"
			} else if kind == "property" {
				kind += ", read-only"
			}
			rows = append(rows, []string{"  " + CleanLine(name), kind, CleanLine(says)})
		}
	}
	b.WriteString("\n")
	writeTable(b, "", rows, width, color)
}
