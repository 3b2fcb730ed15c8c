package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/trust"
)

// extensions are the file name extensions that method names do not include.
var extensions = []string{".sh", ".bash", ".py", ".rb", ".pl", ".js", ".mjs", ".ts", ".exe", ".cmd", ".ps1"}

// A folder contains the hooks in a --hooks directory by name.
type folder struct {
	dir     string
	files   map[string]string // maps names to paths below dir
	unready []string          // scripts below dir that are not executable
}

// FromDir returns a hook for each executable file below dir. The hook's name is the path below dir, without the
// extension of a scripting language ("tools/call.py" answers tools/call). FromDir skips hidden files, files that are
// not executable, and editors' backup copies (NAME~). It does not follow links to directories. NAME.json, beside NAME,
// becomes the method's entry in the returned catalog. If it contains "kind":"stream", each line of output is an event.
// If there are no entries, the catalog is nil.
//
// FromDir refuses directories and files that other users can write to, two files for the same name, and entries with a
// command. Errors are usage Faults.
func FromDir(dir string) ([]Entry, *catalog.Catalog, error) {
	d, err := readFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(d.files) == 0 {
		return nil, nil, wire.Usagef("hooks: no executable file in %s", dir).WithHint("chmod +x the files there, or give a catalog file")
	}
	var entries []Entry
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		file := filepath.Join(d.dir, filepath.FromSlash(d.files[name]))
		entries = append(entries, Entry{Pattern: name, Answer: Answer{Kind: Sh, Text: "exec " + quote(file)}})
	}
	c, err := d.describe()
	for i := range entries {
		if m := c.Method(entries[i].Pattern); m != nil && m.Kind == catalog.Stream {
			entries[i].Answer.Kind = Lines
		}
	}
	return entries, c, err
}

// Unready returns the scripts below dir (files that begin with "#!") that FromDir skips because they are not
// executable.
func Unready(dir string) []string {
	d, _ := readFolder(dir) // FromDir reports the error
	return d.unready
}

func readFolder(dir string) (*folder, error) {
	d := &folder{files: map[string]string{}}
	var err error
	if d.dir, err = filepath.Abs(dir); err != nil {
		return d, wire.Usagef("hooks: %v", err)
	}
	return d, d.read("")
}

// read adds the files in a directory below d.dir, given as a path with slashes.
func (d *folder) read(below string) error {
	at := filepath.Join(d.dir, filepath.FromSlash(below))
	if err := trust.Check("hooks", at); err != nil {
		return err
	}
	files, err := os.ReadDir(at)
	if err != nil {
		return wire.Usagef("hooks: %v", err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") || strings.HasSuffix(f.Name(), "~") {
			continue
		}
		file := path.Join(below, f.Name())
		if f.IsDir() {
			err = d.read(file)
		} else {
			err = d.take(file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// take adds one file. If the file is a link, take examines its target.
func (d *folder) take(file string) error {
	at := filepath.Join(d.dir, filepath.FromSlash(file))
	info, err := os.Stat(at)
	switch {
	case err != nil, !info.Mode().IsRegular():
		return nil
	case !executable(at, info):
		if isScript(at) {
			d.unready = append(d.unready, file)
		}
		return nil
	case path.Ext(file) == ".json":
		return wire.Usagef("hooks: %s is executable, but a .json file only describes the method of another file", at).WithHint("chmod -x " + quote(at))
	}
	name := file
	if ext := path.Ext(file); slices.Contains(extensions, ext) && path.Base(file) != ext {
		name = strings.TrimSuffix(file, ext)
	}
	if other, taken := d.files[name]; taken {
		return wire.Usagef("hooks: both %s and %s in %s would answer %s", other, file, d.dir, name)
	}
	d.files[name] = file
	return trust.Check("hooks", at)
}

// describe returns a catalog of the entries beside the hooks, or nil if there are none.
func (d *folder) describe() (*catalog.Catalog, error) {
	c := &catalog.Catalog{Catalog: 1}
	r := refs{dir: d.dir, defs: map[string]json.RawMessage{}}
	for _, name := range slices.Sorted(maps.Keys(d.files)) {
		b, err := r.read(name + ".json")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var m catalog.Method
		if err == nil {
			m, err = r.method(name, b)
		}
		if err != nil {
			return nil, inside(filepath.Join(d.dir, name+".json"), err)
		}
		c.Methods = append(c.Methods, m)
	}
	if len(c.Methods) == 0 {
		return nil, nil
	}
	c.Defs = r.defs
	return c, nil
}

// Stamp returns a string that changes whenever a file below dir is added, removed or changed.
func Stamp(dir string) string {
	var b strings.Builder
	b.WriteString(dir)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(&b, "\n%s %d %v %v", path, info.Size(), info.Mode(), info.ModTime().UnixNano())
		}
		return nil
	})
	return b.String()
}
