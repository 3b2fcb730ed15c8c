package cache

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/profile"
	"rpcx/wire/scan"
)

// An Outline is what completion knows of a method.
type Outline struct {
	Method string
	Says   string // the beginning of its description
	Params []Param
}

// A Param is a parameter of a method, with the values it may have where they are few.
type Param struct {
	Name   string
	Values []string
}

// outlineWidth bounds what is kept of a description, in characters.
const outlineWidth = 60

// Outlines returns what completion needs of a catalog, the names that safe takes alone.
func Outlines(c *catalog.Catalog, safe func(name string) bool) []Outline {
	var all []Outline
	for _, m := range c.Methods {
		if !safe(m.Name) {
			continue
		}
		says := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(m.Description, "")), " "))
		o := Outline{Method: m.Name, Says: string(says[:min(len(says), outlineWidth)])}
		for key, schema := range scan.Members(scan.Get(m.Params, "properties")) {
			p := Param{Name: scan.Key(key)}
			for val := range scan.Elements(scan.Get(schema, "enum")) {
				if text, ok := scan.Text(val); ok && safe(text) {
					p.Values = append(p.Values, text)
				}
			}
			if safe(p.Name) {
				o.Params = append(o.Params, p)
			}
		}
		all = append(all, o)
	}
	return all
}

// KeepOutlines keeps them for completion, for the endpoint as it was typed. What cannot be kept is not.
func KeepOutlines(typed, dialect string, all []Outline) {
	file := outlineFile(typed, dialect)
	if file == "" {
		return
	}
	var b strings.Builder
	for _, o := range all {
		b.WriteString(o.Method + "\t" + strings.ReplaceAll(o.Says, "\t", " "))
		for _, p := range o.Params {
			b.WriteString("\t" + p.Name + "=" + strings.Join(p.Values, "|"))
		}
		b.WriteString("\n")
	}
	_ = Write(file, []byte(b.String()), time.Time{})
}

// KeptOutlines returns what was kept of an endpoint; nil: nothing.
func KeptOutlines(typed, dialect string) []Outline {
	file := outlineFile(typed, dialect)
	if file == "" {
		return nil
	}
	var all []Outline
	for line := range strings.Lines(string(Read(file))) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 2 {
			continue
		}
		o := Outline{Method: fields[0], Says: fields[1]}
		for _, field := range fields[2:] {
			name, values, _ := strings.Cut(field, "=")
			p := Param{Name: name}
			if values != "" {
				p.Values = strings.Split(values, "|")
			}
			o.Params = append(o.Params, p)
		}
		all = append(all, o)
	}
	return all
}

// outlineFile returns the file for an endpoint as it was typed; "" where there is none. Its name is a hash: the endpoint
// may hold secrets.
func outlineFile(typed, dialect string) string {
	d, err := dir()
	if err != nil || typed == "" {
		return ""
	}
	folder := ""
	if strings.Contains(typed, "exec:") || strings.Contains(typed, "unix:") || strings.Contains(typed, "ipc:") { // which that is depends on where we are
		if folder, err = os.Getwd(); err != nil {
			return ""
		}
	}
	return filepath.Join(d, "completion", digest(typed, dialect, folder))
}

// HistoryVariable is the environment variable that keeps the program from remembering endpoints, when it is "off".
const HistoryVariable = "RPCX_HISTORY"

// maxRecent is how many endpoints are remembered.
const maxRecent = 50

// Remember keeps an endpoint for completion. What holds a secret is not to be given to it.
func Remember(typed string) {
	file := profile.StateFile("endpoints")
	if file == "" || os.Getenv(HistoryVariable) == "off" || strings.ContainsAny(typed, "\n\t") {
		return
	}
	all := Recent()
	if i := slices.Index(all, typed); i == 0 {
		return
	} else if i > 0 {
		all = slices.Delete(all, i, i+1)
	}
	all = append([]string{typed}, all...)
	_ = Write(file, []byte(strings.Join(all[:min(len(all), maxRecent)], "\n")+"\n"), time.Time{})
}

// Recent returns the endpoints that were remembered, the latest first.
func Recent() []string {
	file := profile.StateFile("endpoints")
	if file == "" {
		return nil
	}
	return strings.FieldsFunc(string(Read(file)), func(r rune) bool { return r == '\n' })
}
