package values

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/schema"
	"rpcx/wire/userfile"
)

// Open returns the schema that source names. source is FILE, FILE#/pointer for a part of a document, or
// FILE#METHOD.params or FILE#METHOD.result for a method of a catalog or OpenRPC document. A $ref can lead only to files
// in or below FILE's directory. Errors are usage Faults that name the file.
func Open(source string, o schema.FileOptions) (*schema.Schema, error) {
	file, part := split(source)
	dir := filepath.Dir(file)
	if userfile.IsStream(file) {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault(file, err)
	}
	defer func() { _ = root.Close() }()
	folder, name := root.FS(), filepath.Base(file)
	if userfile.IsStream(file) {
		if o.Content, err = userfile.Read(file); err != nil {
			return nil, fault(file, err)
		}
		o.Content = userfile.Unmarked(o.Content)
	}
	if part != "" && part[0] != '/' {
		if o.Content == nil {
			if o.Content, err = fs.ReadFile(folder, name); err != nil {
				return nil, fault(file, err)
			}
		}
		if o.Content, part, err = ofMethod(userfile.Unmarked(o.Content), part); err != nil {
			return nil, fault(file, err)
		}
	}
	s, err := schema.Open(folder, name, part, o)
	if err != nil {
		return nil, fault(file, err)
	}
	return s, nil
}

// Copies parses --schema-map: URL=PATH. PATH is a file, or a directory if URL is a prefix.
func Copies(maps []string) (all []schema.Copy, err error) {
	for _, text := range maps {
		i := strings.LastIndexByte(text, '=')
		if i <= 0 || !strings.Contains(text[:i], ":") {
			return nil, wire.Usagef("--schema-map %s: write URL=FILE or URL/=DIRECTORY", text)
		}
		address, path := text[:i], text[i+1:]
		c := schema.Copy{Address: address}
		if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
			var root *os.Root
			if root, err = os.OpenRoot(path); err == nil {
				c.Folder = root.FS()
			}
		} else if c.Content, err = userfile.Read(path); err == nil {
			c.Content = userfile.Unmarked(c.Content)
		}
		if err != nil {
			return nil, wire.NewFault(wire.Usage, "--schema-map "+err.Error(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// split separates the file from the part after #. The name of a file may hold a
// #.
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

// ofMethod returns a pointer to the schema of a method's params or result. In OpenRPC, where the params are a list,
// ofMethod adds a schema for them to the returned document.
func ofMethod(doc []byte, part string) ([]byte, string, error) {
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
		return nil, "", fmt.Errorf("%s has no %s", method, what)
	case openrpc && what == "params" && scan.Get(found, madeMember) != nil: // rpcx exported the document, with the original schema in it
		return doc, fmt.Sprintf("/methods/%d/%s", at, madeMember), nil
	case openrpc && what == "result":
		return doc, pointer + "/schema", nil
	case openrpc:
		made := paramsSchema(doc, scan.Get(found, "params"), pointer)
		return scan.Splice(doc, madeMember, made), "/" + madeMember, nil
	}
	return doc, pointer, nil
}

// find returns the method of that name and its index.
func find(doc []byte, method string) (int, []byte, error) {
	var names []string
	for m := range scan.Elements(scan.Get(doc, "methods")) {
		name, _ := scan.Text(scan.Get(m, "name"))
		if name == method {
			return len(names), m, nil
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return 0, nil, fmt.Errorf("it has no methods: name a part of it with a /pointer")
	}
	if near := catalog.Nearest(method, names); near != "" {
		method += "; did you mean " + near + "?"
	}
	return 0, nil, fmt.Errorf("it has no method %s", method)
}

// madeMember is the member with the schema that represents the list of params of an OpenRPC method.
const madeMember = "x-rpcx-params"

// paramsSchema returns one schema for the params of an OpenRPC method, by name or by position. pointer leads to their
// list in doc.
func paramsSchema(doc, list []byte, pointer string) json.RawMessage {
	properties, items := map[string]any{}, []any{}
	required, least := []string{}, 0
	for p := range scan.Elements(list) {
		at := fmt.Sprintf("#%s/%d/schema", pointer, len(items))
		if ref, ok := scan.Text(scan.Get(p, "$ref")); ok { // the parameter is defined in another place
			at, p = ref+"/schema", scan.At(doc, strings.TrimPrefix(ref, "#"))
		}
		name, _ := scan.Text(scan.Get(p, "name"))
		items = append(items, map[string]string{"$ref": at})
		properties[name] = map[string]string{"$ref": at}
		if string(scan.Get(p, "required")) == "true" {
			required, least = append(required, name), len(items)
		}
	}
	return scan.JSON(map[string]any{
		"type": []string{"object", "array"}, "properties": properties, "required": required,
		"items": items, "minItems": least, "additionalItems": false,
	})
}
