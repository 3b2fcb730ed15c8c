package values

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
)

// Open makes the schema ready that source names: a FILE, FILE#/pointer for a part
// of the document in it, or FILE#METHOD.params or FILE#METHOD.result for those of
// a method, where the document is a catalog or an OpenRPC document. A $ref may
// lead to other files below FILE's folder, and nowhere else. Errors are usage
// Faults that name the file.
func Open(source string, o schema.FileOptions) (*Checker, error) {
	file, part := split(source)
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, fault(file, err)
	}
	defer func() { _ = root.Close() }()
	folder, name := root.FS(), filepath.Base(file)
	if part != "" && part[0] != '/' {
		b, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fault(file, err)
		}
		if folder, part, err = ofMethod(folder, name, b, part); err != nil {
			return nil, fault(file, err)
		}
	}
	v, err := schema.Open(folder, name, part, o)
	if err != nil {
		return nil, fault(file, err)
	}
	return &Checker{v}, nil
}

// split takes the part off. A file may have a # in its name.
func split(source string) (file, part string) {
	if _, err := os.Stat(source); err == nil {
		return source, ""
	}
	i := strings.LastIndexByte(source, '#')
	if i < 0 {
		return source, ""
	}
	return source[:i], source[i+1:]
}

func fault(file string, err error) *wire.Fault {
	text := strings.TrimPrefix(err.Error(), filepath.Base(file)+": ")
	text = strings.TrimPrefix(text, "openat "+filepath.Base(file)+": ")
	return wire.NewFault(wire.Usage, "--schema "+file+": "+text, err)
}

// ofMethod returns the pointer to the params or the result of a method. The params
// of OpenRPC are a list of parameters, of which a schema has to be made; it then
// stands in the document that the returned folder has in place of the file.
func ofMethod(folder fs.FS, name string, doc []byte, part string) (fs.FS, string, error) {
	i := strings.LastIndexByte(part, '.')
	if i < 0 || part[i+1:] != "params" && part[i+1:] != "result" {
		return nil, "", fmt.Errorf("%q is neither a /pointer nor METHOD.params nor METHOD.result", part)
	}
	if err := scan.Valid(doc, wire.DefaultMaxDepth); err != nil {
		return nil, "", fmt.Errorf("it is not JSON: %w", err)
	}
	method, what := part[:i], part[i+1:]
	at, found, err := find(doc, method)
	if err != nil {
		return nil, "", err
	}
	pointer := fmt.Sprintf("/methods/%d/%s", at, what)
	openrpc := scan.Get(doc, "openrpc") != nil
	switch {
	case scan.Get(found, what) == nil:
		return nil, "", fmt.Errorf("%s has no %s there", method, what)
	case openrpc && what == "params" && scan.Get(found, madeMember) != nil: // a document of ours has the schema as it was
		return folder, fmt.Sprintf("/methods/%d/%s", at, madeMember), nil
	case openrpc && what == "result":
		return folder, pointer + "/schema", nil
	case openrpc:
		made := paramsSchema(doc, scan.Get(found, "params"), pointer)
		return replaced{folder, name, scan.Splice(doc, madeMember, made)}, "/" + madeMember, nil
	}
	return folder, pointer, nil
}

// find returns the index of a method, and the method.
func find(doc []byte, method string) (int, []byte, error) {
	var names []string
	methods := scan.ReadArray(scan.Get(doc, "methods"), wire.DefaultMaxDepth)
	for _, m, ok := methods.Next(); ok; _, m, ok = methods.Next() {
		name, _ := scan.Text(scan.Get(m, "name"))
		if name == method {
			return len(names), m, nil
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return 0, nil, fmt.Errorf("it has no methods: a part of it is named by a /pointer")
	}
	if near := catalog.Nearest(method, names); near != "" {
		return 0, nil, fmt.Errorf("it has no method %s; did you mean %s?", method, near)
	}
	return 0, nil, fmt.Errorf("it has no method %s", method)
}

// madeMember is the name of the schema that is made of an OpenRPC method's list of
// parameters.
const madeMember = "x-rpcx-params"

// paramsSchema returns one schema for the params of an OpenRPC method, by name or
// by position. pointer is where the list stands in doc.
func paramsSchema(doc, list []byte, pointer string) json.RawMessage {
	properties, items := map[string]any{}, []any{}
	required, least := []string{}, 0
	params := scan.ReadArray(list, wire.DefaultMaxDepth)
	for _, p, ok := params.Next(); ok; _, p, ok = params.Next() {
		at := fmt.Sprintf("#%s/%d/schema", pointer, len(items))
		if ref, ok := scan.Text(scan.Get(p, "$ref")); ok { // the parameter itself is elsewhere
			at, p = ref+"/schema", local(doc, ref)
		}
		name, _ := scan.Text(scan.Get(p, "name"))
		items = append(items, map[string]string{"$ref": at})
		properties[name] = map[string]string{"$ref": at}
		if string(scan.Get(p, "required")) == "true" {
			required, least = append(required, name), len(items)
		}
	}
	b := scan.JSON(map[string]any{
		"type": []string{"object", "array"}, "properties": properties, "required": required,
		"items": items, "minItems": least, "additionalItems": false,
	})
	return b
}

// local returns what a reference inside doc leads to; nil where that is nothing.
func local(doc []byte, ref string) []byte {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for token := range strings.SplitSeq(path, "/") {
		doc = scan.Get(doc, scan.Unescape(token))
	}
	return doc
}

// replaced is a folder in which one file has another content.
type replaced struct {
	fs.FS
	name string
	data []byte
}

// Open opens the other content, or any other file.
func (r replaced) Open(name string) (fs.File, error) {
	if name != r.name {
		return r.FS.Open(name)
	}
	return &inMemory{bytes.NewReader(r.data), r}, nil
}

// inMemory is an open file whose content is given.
type inMemory struct {
	*bytes.Reader
	of replaced
}

func (f *inMemory) Stat() (fs.FileInfo, error) { return f.of, nil }
func (f *inMemory) Close() error               { return nil }

// The methods of fs.FileInfo.

func (r replaced) Name() string       { return r.name }
func (r replaced) Size() int64        { return int64(len(r.data)) }
func (r replaced) Mode() fs.FileMode  { return 0o444 }
func (r replaced) ModTime() time.Time { return time.Time{} }
func (r replaced) IsDir() bool        { return false }
func (r replaced) Sys() any           { return nil }
