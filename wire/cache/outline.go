package cache

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// An Outline is the part of a method's description that shell completion shows.
type Outline struct {
	Method string
	Says   string // the start of the description, at most outlineWidth characters
	Params []Param
}

// A Param is a parameter of a method, with the values in its schema's enum.
type Param struct {
	Name   string
	Values []string
}

// outlineWidth bounds the stored part of a description in characters.
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

// KeepOutlines stores outlines for the completion of an endpoint, under the text that the user typed, until the age that the peer
// allows. It does not store outlines that are for one user only, because all credentials share the file. It ignores errors.
func KeepOutlines(typed, dialect string, all []Outline, keep catalog.Keep) {
	file := outlineFile(typed, dialect)
	if file == "" {
		return
	}
	if keep.Private || keep.Age != nil && *keep.Age <= 0 {
		_ = os.Remove(file)
		return
	}
	_ = Write(file, scan.JSON(all), keep.Until()) // the modification time of the file is its expiry
}

// KeptOutlines returns the unexpired outlines of an endpoint, or nil.
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
	_ = json.Unmarshal(Read(file), &all)
	return all
}

// outlineFile returns the file for an endpoint as the user typed it, or "" if there is no cache directory. Its name is
// a hash, because the endpoint may contain secrets.
func outlineFile(typed, dialect string) string {
	d, err := dir()
	if err != nil || typed == "" {
		return ""
	}
	folder := ""
	if strings.Contains(typed, "exec:") || strings.Contains(typed, "unix:") || strings.Contains(typed, "ipc:") { // a relative path can mean another peer elsewhere
		if folder, err = os.Getwd(); err != nil {
			return ""
		}
	}
	return filepath.Join(d, "completion", digest(typed, dialect, folder))
}
