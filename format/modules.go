package format

import (
	"io"
	"strconv"
	"strings"
)

// A Module is a group of methods, as a table shows it.
type Module struct {
	Name, Version, Description string
	Methods                    []string
}

// Modules writes the table of the modules of a peer that has them, cut to width
// columns (0: not cut).
func Modules(w io.Writer, modules []Module, width int, color bool) error {
	var b strings.Builder
	rows := [][]string{{"MODULE", "VERSION", "METHODS", "DESCRIPTION"}}
	for _, m := range modules {
		methods := Cut(CleanLine(strings.Join(m.Methods, " ")), 40)
		if len(m.Methods) > 8 {
			methods = strconv.Itoa(len(m.Methods))
		}
		rows = append(rows, []string{CleanLine(m.Name), CleanLine(m.Version), methods, CleanLine(m.Description)})
	}
	writeTable(&b, "", rows, width, color)
	_, err := io.WriteString(w, b.String())
	return err
}
