package cache

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// An Outline is what completion shows for a method.
type Outline struct {
	Method string
	Says   string // its description, at most outlineWidth characters
	Params []Param
}

// A Param is a parameter of a method, with its values if the schema lists them.
type Param struct {
	Name   string
	Values []string
}

// outlineWidth bounds the stored characters of a description.
const outlineWidth = 60

// Outlines returns the outlines of a catalog, without the names and values that safe rejects.
func Outlines(c *catalog.Catalog, safe func(name string) bool) []Outline {
	var all []Outline
	for _, m := range c.Methods {
		if !safe(m.Name) {
			continue
		}
		says := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(m.Description, "")), " "))
		o := Outline{Method: m.Name, Says: string(says[:min(len(says), outlineWidth)])}
		for name, schema := range scan.Named(scan.Get(m.Params, "properties")) {
			p := Param{Name: name}
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

// KeepOutlines stores outlines for the completion of an endpoint as typed, for as long as the peer allows. It stores none that are for one
// user only, because the file is the same for all credentials. Errors are ignored.
func KeepOutlines(typed, dialect string, all []Outline, keep catalog.Keep) {
	file := outlineFile(typed, dialect)
	if file == "" {
		return
	}
	if keep.Private || keep.Age != nil && *keep.Age <= 0 {
		_ = os.Remove(file)
		return
	}
	until := time.Now().AddDate(1, 0, 0)
	if keep.Age != nil {
		until = time.Now().Add(*keep.Age)
	}
	var b strings.Builder
	for _, o := range all {
		b.WriteString(o.Method + "\t" + strings.ReplaceAll(o.Says, "\t", " "))
		for _, p := range o.Params {
			b.WriteString("\t" + p.Name + "=" + strings.Join(p.Values, "|"))
		}
		b.WriteString("\n")
	}
	_ = Write(file, []byte(b.String()), until) // the file's time is the time at which the outlines expire
}

// KeptOutlines returns the outlines stored for an endpoint, or nil if there are none, or if they have expired.
func KeptOutlines(typed, dialect string) []Outline {
	file := outlineFile(typed, dialect)
	if file == "" {
		return nil
	}
	if info, err := os.Stat(file); err != nil || !time.Now().Before(info.ModTime()) {
		_ = os.Remove(file)
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

// outlineFile returns the file for an endpoint as typed, or "" if there is no cache directory. Its name is a hash,
// because the endpoint may contain secrets.
func outlineFile(typed, dialect string) string {
	d, err := dir()
	if err != nil || typed == "" {
		return ""
	}
	folder := ""
	if strings.Contains(typed, "exec:") || strings.Contains(typed, "unix:") || strings.Contains(typed, "ipc:") { // a relative path means another peer elsewhere
		if folder, err = os.Getwd(); err != nil {
			return ""
		}
	}
	return filepath.Join(d, "completion", digest(typed, dialect, folder))
}
