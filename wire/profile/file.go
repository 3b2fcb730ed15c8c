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
	"rpcx/wire/userfile"
	"rpcx/wire/xdg"
)

// A file is a parsed config.toml. rpcx reports an error in a profile only when it uses that profile, so the others
// remain usable.
type file struct {
	path       string
	profiles   map[string]any
	defaults   any            // [default]; may be nil
	unknownKey string         // the unknown top-level key, or ""
	lines      map[string]int // line numbers by path, such as "profile.NAME.KEY"
}

// PathVariable is the environment variable that names a file to use instead of config.toml.
const PathVariable = "RPCX_CONFIG"

// filePath returns the path of the file, which may not exist, or "" if there is no configuration directory.
func filePath() string {
	if path := os.Getenv(PathVariable); path != "" {
		return path
	}
	dir := xdg.Config()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "config.toml")
}

// open reads the file. It returns nil if the file does not exist.
func open() (*file, error) {
	path := filePath()
	b, err := contents(path)
	if err != nil || b == nil {
		return nil, err
	}
	return load(path, b)
}

// contents returns the content of the file, or nil if it does not exist.
func contents(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	if b := userfile.Kept(path); b != nil {
		return userfile.Unmarked(b), nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv(PathVariable) == "":
		return nil, nil
	case err != nil:
		return nil, wire.Usagef("%v", err)
	case info.IsDir():
		return nil, wire.Usagef("%s is not a file", path)
	}
	b, err := userfile.Read(path)
	if err != nil {
		return nil, wire.Usagef("%v", err)
	}
	return userfile.Unmarked(b), nil
}

// load parses b, the content of the file at path. It refuses a file that other users can write to.
func load(path string, b []byte) (*file, error) {
	if err := trusted(path); err != nil {
		return nil, err
	}
	f := &file{path: path}
	return f, f.parse(b)
}

// trusted refuses a file that other users can write to, directly or through its directory. It also checks the target of a
// symbolic link.
func trusted(path string) error {
	if userfile.IsInherited(path) { // the process that started rpcx opened the file
		return nil
	}
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
		return toml.Fault(f.path, err)
	}
	f.lines = places(b)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if key != "profile" && key != "default" {
			f.unknownKey = key
			break
		}
	}
	tables, ok := all["profile"].(map[string]any)
	if !ok && all["profile"] != nil {
		return wire.Usagef("%s: profile is not a table: write [profile.NAME]", f.path)
	}
	f.profiles, f.defaults = tables, all["default"]
	return nil
}

// table returns the table of a profile, or nil.
func (f *file) table(name string) (map[string]any, error) {
	val, ok := f.profiles[name]
	switch {
	case !ok && f.unknownKey != "": // the profile's name may be misspelled
		return nil, unknown(f.where(f.unknownKey), f.unknownKey, []string{"profile", "default"})
	case !ok:
		return nil, nil
	}
	table, ok := val.(map[string]any)
	if !ok {
		return nil, wire.Usagef("%s: profile.%s is not a table: write [profile.NAME]", f.path, name)
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if _, ok := keys[key]; !ok {
			return nil, unknown(f.where(name, key), key, Keys())
		}
	}
	return table, nil
}

// places returns the line of each key and table, by path.
func places(b []byte) map[string]int {
	lines := map[string]int{}
	for _, k := range toml.Keys(b) {
		for i := range k.Path { // a dotted key creates the tables above it
			if path := strings.Join(k.Path[:i+1], "."); lines[path] == 0 {
				lines[path] = k.Line
			}
		}
	}
	return lines
}

// where returns the file, the line and the path of a key, for errors. The key of a profile consists of two words.
func (f *file) where(key ...string) string {
	path := strings.Join(key, ".")
	if key[0] == "" { // see Defaults
		path = "default" + path
	} else if _, ok := f.profiles[key[0]]; ok || len(key) > 1 {
		path = "profile." + path
	}
	if line := f.lines[path]; line > 0 {
		return f.path + ":" + strconv.Itoa(line) + ": " + path
	}
	return f.path + ": " + path
}
