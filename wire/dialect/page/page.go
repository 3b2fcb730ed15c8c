// Package page finds dialects in dialect files (rpcx-dialect-file(5)): the embedded files and the users' own.
package page

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/dialect/page/envelope"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/dialect/page/server"
	"rpcx/wire/framing"
	"rpcx/wire/xdg"
)

//go:embed pages/*.toml rules/*.toml probes/*.toml
var embedded embed.FS

// A Flow is the Go part of a protocol, which a dialect file selects with its member flow.
type Flow struct {
	Page         string // the protocol's dialect file, embedded under the flow's name
	Rules        string // the rules of rpcx validate for conversations; "" for those in the dialect file
	Notification string // see codec.Native
	Client       func(c *codec.Codec) codec.Flow
	Server       func(h server.Host) server.Native
	Rounds       bool // see dialect.Handshake
	Jobs         *dialect.Jobs
	Polls        []dialect.Poll  // of dialect.Shape
	MadeUp       []dialect.Place // more places for MadeUp of dialect.Shape
	Files        *dialect.Files
	Unchanged    func(ctx context.Context, open func(context.Context, dialect.Op) (dialect.Stream, error)) bool // see dialect.Handshake
}

// rules returns the rules of rpcx validate for a dialect file. The rules of an embedded dialect file are in a separate file,
// which only validate reads.
func (l *Library) rules(p *load.Page) string {
	if own := l.Flows[p.Flow].Rules; own != "" && p.Flow == p.Name {
		return own
	}
	if text, err := embedded.ReadFile("rules/" + p.Name + ".toml"); err == nil && p.Rules == nil {
		return string(text)
	}
	return rules(p)
}

// A Library finds dialect files for one table of dialects.
type Library struct {
	Flows  map[string]Flow
	Others []string // the names of all dialects without a dialect file
	found  sync.Map // loaded dialect files by the requested name: string → func() (dialect.Spec, error)
	given  sync.Map // the paths of the dialect files that were read by path, by the name in the file: string → string
}

// brought returns the text of the embedded dialect file called name.
func (l *Library) brought(name string) (text []byte, ok bool) {
	if f, ok := l.Flows[name]; ok {
		return []byte(f.Page), true
	}
	text, err := embedded.ReadFile("pages/" + name + ".toml")
	return text, err == nil
}

// Names returns the names of the embedded dialect files.
func (l *Library) Names() []string {
	names := slices.Collect(maps.Keys(l.Flows))
	entries, _ := embedded.ReadDir("pages")
	names = append(names, wire.Map(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".toml") })...)
	slices.Sort(names)
	return names
}

// OwnNames returns the names of the dialect files, valid or not, in the user's configuration directory.
func (l *Library) OwnNames() (names []string) {
	dir := xdg.Config()
	if dir == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "dialects"))
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && load.IsName(name) && l.taken(name) == "" {
			names = append(names, name)
		}
	}
	return names
}

// prefixes are the words that can precede the colon of an endpoint, apart from dialects and framings.
var prefixes = []string{"ws", "wss", "http", "https", "tcp", "tls", "unix", "exec", "ipc", "stdio", "demo", "tape", "conversation", "accept", "dial"}

// taken describes what a name already means if a user's dialect file cannot have it, and returns "" for other names.
func (l *Library) taken(name string) string {
	_, isFraming := framing.ByName(name)
	switch {
	case slices.Contains(l.Others, name), slices.Contains(l.Names(), name):
		return "one of rpcx's dialects"
	case isFraming:
		return "a framing"
	case slices.Contains(prefixes, name):
		return "a reserved word in endpoints"
	}
	return ""
}

// Clash returns an error if the user's configuration directory contains a dialect file with a name that is taken.
func (l *Library) Clash(name string) error {
	if what := l.taken(name); what != "" && !IsPath(name) {
		if path := userFile(name); path != "" {
			return wire.Usagef("%s: %s is %s: give the file another name", path, name, what)
		}
	}
	return nil
}

// Exists reports whether there is a dialect file, valid or not, with that name or path.
func (l *Library) Exists(name string) bool {
	if _, ok := l.brought(name); ok {
		return true
	}
	_, err := os.Lstat(userFile(name))
	return err == nil
}

// Source returns the text of the dialect file with that name or path, or nil.
func (l *Library) Source(name string) []byte {
	if b, ok := l.brought(name); ok {
		return b
	}
	b, err := os.ReadFile(userFile(name))
	if err != nil {
		return nil
	}
	return b
}

// Find returns the dialect of that name, from an embedded dialect file or from one in the user's configuration directory. If name is the
// path of a TOML file, Find returns the dialect in that file, under its absolute path as the name. ok is false if there is no such file.
// The error is a usage Fault about the content of the file.
func (l *Library) Find(name string) (spec dialect.Spec, ok bool, err error) {
	switch {
	case IsPath(name):
		if name, err = filepath.Abs(name); err != nil {
			return dialect.Spec{}, false, wire.Usagef("%v", err)
		}
	case !load.IsName(name):
		return dialect.Spec{}, false, nil
	}
	make := sync.OnceValues(func() (dialect.Spec, error) { return l.read(name) })
	entry, _ := l.found.LoadOrStore(name, make)
	spec, err = entry.(func() (dialect.Spec, error))()
	return spec, err == nil && spec.Name != "", err
}

// IsPath reports whether a dialect's name is the path of a dialect file.
func IsPath(name string) bool { return strings.HasSuffix(name, ".toml") }

// userFile returns the path of a dialect file that is not embedded, or "".
func userFile(name string) string {
	if IsPath(name) {
		return name
	}
	dir := xdg.Config()
	if dir == "" || !load.IsName(name) {
		return ""
	}
	path := filepath.Join(dir, "dialects", name+".toml")
	if _, err := os.Lstat(path); err != nil {
		return ""
	}
	return path
}

// tried returns a member of a user's file and what is wrong with it: a name other than that of the file, an unknown framing, members that
// Compile refuses, or a client that would read error responses as results.
func tried(name string, p *load.Page) (member, says string) {
	if _, known := framing.ByName(p.Framing); p.Framing != "" && !known {
		return "framing", fmt.Sprintf("%q is not a framing: expected one of %s", p.Framing, strings.Join(framing.Names(), ", "))
	}
	if !IsPath(name) && p.Name != name {
		return "name", fmt.Sprintf("expected %q, the name of the file, not %q", name, p.Name)
	}
	if envelope.Plain(p) {
		return "", ""
	}
	plan, err := envelope.Compile(p)
	switch {
	case err != nil:
		return "names", err.Error()
	case plan.TakesErrors():
		return "names.response", "error responses would count as results: name the error here or in names.ok, or find it with a [[read]] rule for responses"
	}
	return "", ""
}

// read reads the dialect file called name. It returns a Spec without a name if the file does not exist.
func (l *Library) read(name string) (dialect.Spec, error) {
	var p *load.Page
	var err error
	b, ok := l.brought(name)
	switch path := userFile(name); {
	case ok:
		p, err = load.Trusting(name+".toml", b)
	case path == "":
		return dialect.Spec{}, nil
	default:
		p, err = load.File(path, func(p *load.Page) (member, says string) { return tried(name, p) })
	}
	if err != nil {
		return dialect.Spec{}, err
	}
	spec, err := l.Spec(p)
	if IsPath(name) {
		l.given.Store(spec.Name, name)
		spec.Name = name
	}
	return spec, err
}

// Given returns the path of the dialect file that contains the name, if that file was read by path.
func (l *Library) Given(name string) (path string, ok bool) {
	found, ok := l.given.Load(name)
	path, _ = found.(string)
	return path, ok
}

// NameOf returns the name in the dialect file at path if that file was read before, and path otherwise.
func (l *Library) NameOf(path string) (name string) {
	name = path
	l.given.Range(func(k, v any) bool {
		if v == path {
			name = k.(string)
		}
		return v != path
	})
	return name
}
