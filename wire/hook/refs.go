package hook

import (
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/trust"
)

// refs collects the files to which the schemas of a directory's entries refer. Each becomes a definition of the
// catalog, and each $ref refers to that definition. It reads no file outside the directory.
type refs struct {
	dir  string
	defs map[string]json.RawMessage // by path below dir
}

// method reads the description of name.
func (r *refs) method(name string, b []byte) (catalog.Method, error) {
	file := name + ".json"
	switch {
	case scan.Valid(b, refDepth) != nil || scan.Type(b) != 'o':
		return catalog.Method{}, wire.Usagef("a description must be a JSON object, with description, params, result")
	case scan.Get(b, "run") != nil:
		f := wire.Usagef("run is not allowed in a description: the file %s answers", name)
		f.Hint = "remove run"
		return catalog.Method{}, f
	}
	if says, ok := scan.Text(scan.Get(b, "name")); ok && says != name {
		return catalog.Method{}, wire.Usagef("the file name is for %s, but the member name is %s", name, says)
	}
	b, err := r.rewrite(b, file)
	if err != nil {
		return catalog.Method{}, err
	}
	var o scan.Object
	o.Text("name", name)
	o.Members(b, "name", "$defs") // they become definitions of the file
	var m catalog.Method
	if err := json.Unmarshal(o.End(), &m); err != nil {
		return catalog.Method{}, wire.Usagef("%v", err)
	}
	return m, nil
}

const refDepth = 1000

// rewrite returns val, which is in file, with every $ref changed to a definition in defs.
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

// target returns the place of the definition that a $ref in file names.
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
		return "", wire.Usagef("$ref %q leads out of the directory %s", ref, r.dir)
	}
	if _, known := r.defs[at]; !known {
		r.defs[at] = json.RawMessage("true") // set first, because the file may refer to itself
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
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := trust.Check("hooks", filepath.Join(r.dir, filepath.FromSlash(file))); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
