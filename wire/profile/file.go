package profile

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/toml"
	"rpcx/wire/trust"
)

// A file is config.toml. A mistake in one profile is nothing to the others: it
// is found when that profile is asked for.
type file struct {
	path     string
	profiles map[string]any
	defaults any            // [default]; nil: there is none
	stray    string         // a key beside profile; "" where there is none
	lines    map[string]int // of "profile.NAME.KEY"
}

// PathVariable is the environment variable that names the file in place of config.toml.
const PathVariable = "RPCX_CONFIG"

// filePath returns where the file would be; "" where nothing says so.
func filePath() string {
	if path := os.Getenv(PathVariable); path != "" {
		return path
	}
	dir := XDG("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "config.toml")
}

// XDG returns our folder in the one that an XDG variable names, else in one below
// the home folder; "" where nothing says so.
func XDG(variable string, below ...string) string {
	dir := os.Getenv(variable)
	if !filepath.IsAbs(dir) { // unset, or of no worth as XDG has it
		home, _ := os.UserHomeDir()
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(append([]string{home}, below...)...)
	}
	return filepath.Join(dir, "rpcx")
}

// StateFile returns the path of name in $XDG_STATE_HOME/rpcx, or "" without a
// home directory.
func StateFile(name string) string {
	dir := XDG("XDG_STATE_HOME", ".local", "state")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// open reads the file; nil where there is none.
func open() (*file, error) {
	path := filePath()
	b, err := contents(path)
	if err != nil || b == nil {
		return nil, err
	}
	return load(path, b)
}

// contents returns what stands in the file; nil where there is none.
func contents(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv(PathVariable) == "":
		return nil, nil
	case err != nil:
		return nil, wire.Usagef("%v", err)
	case !info.Mode().IsRegular():
		return nil, wire.Usagef("%s is no file", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, wire.Usagef("%v", err)
	}
	return b, nil
}

// load reads b, the contents of the file, which has to be one that nobody else can write.
func load(path string, b []byte) (*file, error) {
	if err := trusted(path); err != nil {
		return nil, err
	}
	f := &file{path: path}
	return f, f.parse(b)
}

// trusted looks at the file and its folder, and where it is a link at what it
// leads to as well.
func trusted(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return wire.Usagef("%v", err)
	}
	for _, p := range []string{filepath.Dir(path), filepath.Dir(real), real} {
		if err := trust.Check("config", p); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) parse(b []byte) error {
	var all map[string]any
	if err := toml.Decode(b, &all); err != nil {
		return f.syntax(err)
	}
	f.lines = places(b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key != "profile" && key != "default" {
			f.stray = key
			break
		}
	}
	tables, ok := all["profile"].(map[string]any)
	if !ok && all["profile"] != nil {
		return wire.Usagef("%s: profile is no table: write [profile.NAME]", f.path)
	}
	f.profiles, f.defaults = tables, all["default"]
	return nil
}

// table returns what the file has of a profile; nil where there is none of that
// name.
func (f *file) table(name string) (map[string]any, error) {
	val, ok := f.profiles[name]
	switch {
	case !ok && f.stray != "": // it may have been meant to be there
		return nil, unknown(f.where(f.stray), f.stray, []string{"profile", "default"})
	case !ok:
		return nil, nil
	}
	table, ok := val.(map[string]any)
	if !ok {
		return nil, wire.Usagef("%s: profile.%s is no table: write [profile.NAME]", f.path, name)
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if _, ok := keys[key]; !ok {
			return nil, unknown(f.where(name, key), key, Keys())
		}
	}
	return table, nil
}

// syntax returns an error of reading the file in our words.
func (f *file) syntax(err error) error {
	var at *toml.Error
	if errors.As(err, &at) && at.Line > 0 {
		return wire.Usagef("%s:%d: %s", f.path, at.Line, at.Text)
	}
	return wire.Usagef("%s: %v", f.path, err)
}

// places finds the lines of keys: those that a struct without any has no place for.
func places(b []byte) map[string]int {
	var nothing struct {
		Profile map[string]struct{} `toml:"profile"`
		Default struct{}            `toml:"default"`
	}
	return toml.Strange(b, &nothing)
}

// where returns the place of a key of the file, or of one of a profile.
func (f *file) where(key ...string) string {
	path := strings.Join(key, ".")
	if key[0] == "" { // see Defaults
		path = "default" + path
	} else if _, ok := f.profiles[key[0]]; ok || len(key) > 1 {
		path = "profile." + path
	}
	if line := f.line(path); line > 0 {
		return f.path + ":" + strconv.Itoa(line) + ": " + path
	}
	return f.path + ": " + path
}

// line returns that of a key, or of the first one below it; 0: not known.
func (f *file) line(path string) int {
	line := f.lines[path]
	for key, n := range f.lines {
		if strings.HasPrefix(key, path+".") && (line == 0 || n < line) {
			line = n
		}
	}
	return line
}
