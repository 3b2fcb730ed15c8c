package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/jq"
	"rpcx/wire/scan"
	"rpcx/wire/transport"
	"rpcx/wire/transport/child"
	"rpcx/wire/trust"
	"rpcx/wire/userfile"
)

func isScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 2)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "#!"
}

// hasCRLF reports whether the command of a is a script whose first line ends with CR LF. The system cannot find the
// interpreter of such a script, because it treats the CR as a part of the name.
func (a *Answer) hasCRLF() bool {
	at, err := transport.Parse("exec:" + strings.TrimPrefix(a.Text, "exec "))
	return err == nil && child.HasCRLF(at.Command[0])
}

// FromFile reads a catalog and returns the hooks in its run members. A command that begins with ./ or ../ is relative
// to the catalog's directory, or to the current directory if the catalog is a stream. FromFile refuses a file that
// other users can write to. Errors are usage Faults.
func FromFile(path string) ([]Entry, *catalog.Catalog, error) {
	if !userfile.IsInherited(path) {
		if err := trust.Check("hooks", path); err != nil {
			return nil, nil, err
		}
	}
	c, err := catalog.Load(path)
	if err != nil {
		return nil, nil, err
	}
	entries, err := FromCatalog(c)
	if err != nil {
		return nil, nil, inside(path, err)
	}
	dir := filepath.Dir(path)
	if userfile.IsStream(path) {
		dir = "."
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, wire.Usagef("hooks: %v", err)
	}
	for i := range entries {
		a := &entries[i].Answer
		command := a.Kind == Sh || a.Kind == Text || a.Kind == Lines || a.Kind == Co
		if command && (strings.HasPrefix(a.Text, "./") || strings.HasPrefix(a.Text, "../")) {
			a.Text = quote(dir) + "/" + a.Text
		}
	}
	return entries, c, nil
}

// FromCatalog returns the hooks in the run members of c, which must come from a file that the user specified with
// --hooks.
func FromCatalog(c *catalog.Catalog) ([]Entry, error) { return fromCatalog(c, ParseAnswer) }

// FromDemo is like FromCatalog, but for an embedded demo. It compiles each jq expression when it is first used, because
// the expressions are known to be valid.
func FromDemo(c *catalog.Catalog) ([]Entry, error) {
	return fromCatalog(c, func(s string) (Answer, error) {
		text, ok := strings.CutPrefix(s, "jq:")
		if !ok {
			return ParseAnswer(s)
		}
		return Answer{Kind: JQ, Text: text, prog: sync.OnceValue(func() *jq.Program {
			a, err := ParseAnswer(s)
			if err != nil {
				panic(fmt.Sprintf("a demo: %v", err)) // a test prevents this panic
			}
			return a.prog()
		})}, nil
	})
}

func fromCatalog(c *catalog.Catalog, parse func(string) (Answer, error)) ([]Entry, error) {
	var entries []Entry
	for _, m := range append(wire.Map(c.Methods, func(m catalog.Method) member { return member{m.Name, m.Run} }), membersOf(c.Classes)...) {
		if m.Run == "" {
			continue
		}
		a, err := parse(m.Run)
		if err != nil {
			return nil, inside("method "+m.Name, err)
		}
		entries = append(entries, Entry{Pattern: m.Name, Answer: a})
	}
	return entries, nil
}

// A member is a method, a property, or another member of a class, with its hook.
type member struct {
	Name string `json:"name"`
	Run  string `json:"run"`
}

// membersOf returns the members of classes. Methods and properties are named Class.method. The constructor and the
// destructor are named Class.__init__ and Class.__del__.
func membersOf(classes []json.RawMessage) (all []member) {
	for _, raw := range classes {
		var class struct {
			Name        string   `json:"name"`
			Constructor member   `json:"constructor"`
			Destructor  member   `json:"destructor"`
			Methods     []member `json:"methods"`
			Properties  []member `json:"properties"`
		}
		if err := json.Unmarshal(raw, &class); err != nil {
			continue // an invalid class has no hooks
		}
		class.Constructor.Name, class.Destructor.Name = "__init__", "__del__"
		for _, m := range slices.Concat([]member{class.Constructor, class.Destructor}, class.Methods, class.Properties) {
			all = append(all, member{class.Name + "." + m.Name, m.Run})
		}
	}
	return all
}

// quote returns s as one word of sh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// refs collects the files that the schemas in a directory refer to. Each file becomes a definition in the catalog, and
// each $ref to the file is changed to refer to that definition. refs reads no files outside of the directory.
type refs struct {
	dir  string
	defs map[string]json.RawMessage // by path below dir
}

// method converts the description of the method name.
func (r *refs) method(name string, b []byte) (catalog.Method, error) {
	file := name + ".json"
	switch {
	case scan.Valid(b, refDepth) != nil || scan.Type(b) != 'o':
		return catalog.Method{}, wire.Usagef("a description must be a JSON object with members such as description, params and result")
	case scan.Get(b, "run") != nil:
		return catalog.Method{}, wire.Usagef("run is not allowed in a description, because the file %s is the hook", name).WithHint("remove run")
	}
	if says, ok := scan.Text(scan.Get(b, "name")); ok && says != name {
		return catalog.Method{}, wire.Usagef("the file describes %s, but its member name is %s", name, says)
	}
	b, err := r.rewrite(b, file)
	if err != nil {
		return catalog.Method{}, err
	}
	var o scan.Object
	o.Text("name", name)
	o.Members(b, "name", "$defs") // these become definitions of the file
	var m catalog.Method
	if err := json.Unmarshal(o.End(), &m); err != nil {
		return catalog.Method{}, wire.Usagef("%v", err)
	}
	return m, nil
}

const refDepth = 1000

// rewrite returns val, which is in file, with every $ref changed to refer to a definition in defs.
func (r *refs) rewrite(val []byte, file string) ([]byte, error) {
	if t := scan.Type(val); t != 'o' && t != 'a' {
		return val, nil
	}
	return scan.Rebuild(nil, val, refDepth, func(b []byte, _ int, key, part []byte) ([]byte, error) {
		if text, ok := scan.Text(part); ok && scan.IsKey(key, "$ref") {
			to, err := r.target(text, file)
			return scan.AppendQuoted(b, to), err
		}
		part, err := r.rewrite(part, file)
		return append(b, part...), err
	})
}

// target returns the $ref that replaces ref, which is in file.
func (r *refs) target(ref, file string) (string, error) {
	name, fragment, _ := strings.Cut(ref, "#")
	if fragment != "" && fragment[0] != '/' {
		return "", wire.Usagef("$ref %q: only a JSON pointer may follow the #", ref)
	}
	at := file
	if name != "" {
		at = path.Join(path.Dir(file), name)
	}
	if path.IsAbs(name) || strings.Contains(name, ":") || !filepath.IsLocal(filepath.FromSlash(at)) {
		return "", wire.Usagef("$ref %q points outside of the directory %s", ref, r.dir)
	}
	if _, known := r.defs[at]; !known {
		r.defs[at] = json.RawMessage("true") // the file may refer to itself
		b, err := r.read(at)
		if err == nil {
			if err = scan.Valid(b, refDepth); err == nil {
				r.defs[at], err = r.rewrite(b, at)
			}
		}
		if err != nil {
			return "", wire.Usagef("$ref %q: %v", ref, err)
		}
	}
	return "#/$defs/" + url.PathEscape(scan.Escape(at)) + fragment, nil
}

// read returns the content of a file below the directory. It refuses links that lead out of the directory.
func (r *refs) read(file string) ([]byte, error) {
	f, err := os.OpenInRoot(r.dir, filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := trust.Check("hooks", filepath.Join(r.dir, filepath.FromSlash(file))); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
