// Package profile reads config.toml, in which a user names peers and how to reach them (rpcx-config(5)). It reads the
// file only if a profile or the defaults are needed.
package profile

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rpcx/wire"
	"rpcx/wire/catalog"
)

// A Profile is a table [profile.NAME] or [default] in which environment variables have been replaced.
type Profile struct {
	Name     string
	Folder   string    // the directory of the file; relative paths start there
	Endpoint Setting   // the endpoint, with one value
	Settings []Setting // the other settings in key order
}

// A Setting is one key of a profile. Keys have the names of flags, without the dashes.
type Setting struct {
	Key     string
	Values  []string // one value unless the key takes a list
	where   string   // the file, line and key
	filled  bool     // the values contain variables and must not be shown
	secrets []string // the variables' values
}

// shortestSecret is the minimum length, in bytes, of a variable's value that is redacted everywhere. Shorter values
// would hide parts of ordinary words.
const shortestSecret = 4

// Secrets returns the values of a profile's variables, which must not be shown.
func (p *Profile) Secrets() []string {
	all := p.Endpoint.secrets
	for _, s := range p.Settings {
		all = append(all[:len(all):len(all)], s.secrets...)
	}
	return all
}

// Keys returns the keys of profiles in order, including endpoint.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }

// Find returns the profile of that name, or nil. Errors are usage Faults that name the file and, if known, the line and
// the key.
func Find(name string) (*Profile, error) {
	f, err := open()
	if err != nil || f == nil {
		return nil, err
	}
	return f.profile(name)
}

// profile returns the profile of that name, or nil.
func (f *file) profile(name string) (*Profile, error) {
	table, err := f.table(name)
	if table == nil || err != nil {
		return nil, err
	}
	p, err := f.settings(name, table)
	if err == nil && p.Endpoint.Key == "" {
		return nil, wire.Usagef("%s has no endpoint", f.where(name))
	}
	return p, err
}

// settings reads the values of a profile.
func (f *file) settings(name string, table map[string]any) (*Profile, error) {
	p := &Profile{Name: name, Folder: filepath.Dir(f.path)}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		s, err := f.setting(name, key, table[key])
		if err != nil {
			return nil, err
		}
		if key == "endpoint" {
			p.Endpoint = s
		} else {
			p.Settings = append(p.Settings, s)
		}
	}
	return p, nil
}

// Defaults returns the settings in [default], which apply to every peer, as a profile without a name and endpoint. They
// are durations, sizes and other values that are not sent to peers. If there is no such table, Defaults returns nil. It
// does not parse a file that does not contain the text [default]. It returns the same errors as Find.
func Defaults() (*Profile, error) {
	path := filePath()
	b, err := contents(path)
	switch {
	case err != nil && os.Getenv(PathVariable) != "":
		return nil, err
	case err != nil || !bytes.Contains(b, []byte("[default]")):
		return nil, nil
	}
	f, err := load(path, b)
	if err != nil || f.defaults == nil {
		return nil, err
	}
	table, ok := f.defaults.(map[string]any)
	if !ok {
		return nil, wire.Usagef("%s: default is not a table: write [default]", f.path)
	}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(defaultKeys, key) {
			return nil, unknown(f.where("", key), key, defaultKeys)
		}
	}
	return f.settings("", table)
}

// A Listed is a summary of a profile without the values of variables.
type Listed struct{ Name, Endpoint, Dialect string }

// List returns all profiles by name. For profiles that Find rejects, it returns the parts that can be read.
func List() ([]Listed, error) {
	f, err := open()
	if err != nil || f == nil {
		return nil, err
	}
	var all []Listed
	for _, name := range slices.Sorted(maps.Keys(f.profiles)) {
		l := Listed{Name: name}
		if table, ok := f.profiles[name].(map[string]any); ok {
			l.Endpoint, _ = table["endpoint"].(string)
			l.Dialect, _ = table["dialect"].(string)
		}
		all = append(all, l)
	}
	return all, nil
}

// Names returns the names of all profiles.
func Names() ([]string, error) {
	all, err := List()
	return wire.Map(all, func(l Listed) string { return l.Name }), err
}

// Setting returns the setting for a key, or nil.
func (p *Profile) Setting(key string) *Setting {
	return wire.Find(p.Settings, func(s *Setting) bool { return s.Key == key })
}

// Where returns the file, line and key of s.
func (s Setting) Where() string { return s.where }

// Fault returns err, which is about a value of s, as a usage Fault that names the key's place. If the value contains
// variables, Fault omits the text of err, because it may quote a secret.
func (s Setting) Fault(err error) error {
	f := wire.AsFault(err)
	if f == nil {
		f = wire.NewFault(wire.Usage, err.Error(), err)
	}
	g := &wire.Fault{Kind: f.Kind, Message: s.where + ": " + f.Message, Hint: f.Hint}
	if s.filled {
		g.Message, g.Hint = s.where+" is not valid; the value is not shown, because its variables may be secrets", ""
	}
	return g
}

// unknown returns the usage Fault for an unknown key. Its hint is the most similar known key.
func unknown(where, key string, known []string) error {
	return wire.Usagef("%s: unknown key", where).WithHint(catalog.DidYouMean(key, known))
}
