package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
)

// FileOptions control how Open reads a schema. The zero value is usable.
type FileOptions struct {
	// Draft is the draft of a document that names none: "4", "6", "7", "2019-09" or "2020-12". The default is 7 for an
	// OpenRPC document and otherwise 2020-12.
	Draft string
	// Formats makes "format" a condition in all drafts. Without it, the draft determines whether "format" is a
	// condition or an annotation.
	Formats bool
	// Warn receives a sentence for each pattern that is not checked, because Go's regular expressions do not support it. It may be
	// nil.
	Warn func(text string)
	// Content replaces the content of the file unless it is nil.
	Content []byte
	// Copies are local copies of documents outside of the directory.
	Copies []Copy
}

// A Copy maps the address of a document, or a prefix of addresses, to local files.
type Copy struct {
	Address string // the document's address; if Folder is set, a prefix of addresses
	Folder  fs.FS  // contains the files for the rest of each address, or nil
	Content []byte // the document if Folder is nil
}

// Drafts lists the valid values of FileOptions.Draft.
var Drafts = []string{"4", "6", "7", "2019-09", "2020-12"}

var draftOf = map[string]*jsonschema.Draft{
	"4": jsonschema.Draft4, "6": jsonschema.Draft6, "7": jsonschema.Draft7, "2019-09": jsonschema.Draft2019, "2020-12": jsonschema.Draft2020,
}

// Open prepares a schema: the place pointer ("" for the whole document) in the document name below folder. A $ref can lead to other files
// in or below the directory, by a relative path or by an address based on the document's $id. A $ref that leads elsewhere or to the
// network is an error, because values could not be checked without its target.
func Open(folder fs.FS, name, pointer string, o FileOptions) (*Schema, error) {
	f := &files{folder: folder, copies: o.Copies, read: map[string]any{}}
	b, err := o.Content, error(nil)
	if b == nil {
		if b, err = f.content(name); err != nil {
			return nil, err
		}
	}
	doc, err := parsed(name, b)
	if err != nil {
		return nil, err
	}
	part, ok := scan.Lookup(doc, pointer)
	if !ok {
		return nil, fmt.Errorf("nothing found at %s", pointer)
	}
	draft := draftOf["2020-12"]
	if isAround(doc, "openrpc") {
		draft = draftOf["7"]
	}
	if d, ok := draftOf[o.Draft]; ok {
		draft = d
	}
	warn := warnOnce(o.Warn)
	misspelt(part, pointer, warn)
	f.home(name, doc)
	c := newCompiler(draft, f, func(text string) (jsonschema.Regexp, error) {
		p, err := newPattern(text)
		if err != nil {
			warn(fmt.Sprintf("pattern %q is left unchecked: %s", text, reason(err)))
		}
		return p, nil
	})
	if isAround(doc, "catalog", "openrpc", "openapi", "asyncapi") {
		doc = bare(doc)
	}
	address := folderBase + (&url.URL{Path: name}).EscapedPath()
	f.read[address] = doc
	if err := c.AddResource(address, doc); err != nil {
		return nil, fileError(err, f.read)
	}
	compiled, err := c.Compile(address + strings.TrimPrefix(location(pointer), base))
	if err != nil {
		return nil, fileError(err, f.read)
	}
	s := &Schema{schema: compiled, compiler: c, docs: f.read, formats: o.Formats, stepsPerByte: stepsPerByte}
	s.ready(b)
	return s, nil
}

// stepsPerByte is the number of additional steps per byte of a value for schemas that the user has chosen.
const stepsPerByte = 16

// bare removes schema keywords at the root of a document that only contains schemas, because they have another meaning
// there.
func bare(doc any) any {
	root, ok := doc.(map[string]any)
	if !ok {
		return doc
	}
	root = maps.Clone(root)
	for _, k := range keywords {
		delete(root, k)
	}
	return root
}

// isAround reports whether a document has one of members, which only documents with several schemas have.
func isAround(doc any, members ...string) bool {
	root, ok := doc.(map[string]any)
	return ok && slices.ContainsFunc(members, func(m string) bool { return root[m] != nil })
}

func warnOnce(warn func(string)) func(string) {
	warned := map[string]bool{}
	return func(text string) {
		if warn != nil && !warned[text] {
			warned[text] = true
			warn(text)
		}
	}
}

// folderBase is the directory's address in the compiler.
const folderBase = "rpcx:///folder/"

type files struct {
	folder fs.FS
	id     string // the prefix of addresses, from the document's $id, that stands for the directory, or "" if unknown
	copies []Copy
	read   map[string]any // by address
}

// home determines which addresses are files in the directory: those with the base of the document's $id.
func (f *files) home(name string, doc any) {
	root, _ := doc.(map[string]any)
	id, _ := root["$id"].(string)
	if id == "" {
		id, _ = root["id"].(string)
	}
	if before, ok := strings.CutSuffix(strings.TrimSuffix(id, "#"), path.Base(name)); ok && strings.Contains(before, "://") {
		f.id = before
	}
}

// Load reads the document at an address.
func (f *files) Load(address string) (any, error) {
	name, ok := strings.CutPrefix(address, folderBase)
	if !ok && f.id != "" {
		name, ok = strings.CutPrefix(address, f.id)
	}
	if ok {
		if name, err := url.PathUnescape(name); err == nil && fs.ValidPath(name) {
			b, err := f.content(name)
			if err != nil {
				return nil, err
			}
			f.read[address], err = parsed(name, b)
			return f.read[address], err
		}
	}
	b, err := f.copied(address)
	if err != nil {
		return nil, err
	}
	f.read[address], err = jsonschema.UnmarshalJSON(bytes.NewReader(b))
	return f.read[address], err
}

func (f *files) copied(address string) ([]byte, error) {
	for _, c := range f.copies {
		rest, ok := strings.CutPrefix(address, c.Address)
		switch {
		case !ok || c.Folder == nil && rest != "":
			continue
		case c.Folder == nil:
			return c.Content, nil
		}
		if name, err := url.PathUnescape(strings.TrimPrefix(rest, "/")); err == nil && fs.ValidPath(name) {
			return (&files{folder: c.Folder}).content(name)
		}
	}
	return nil, errors.New("it is outside the schema's directory, and rpcx does not fetch schemas")
}

func (f *files) content(name string) ([]byte, error) {
	b, err := fs.ReadFile(f.folder, name)
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w", name, of.Err)
	}
	return userfile.Unmarked(b), err
}

func parsed(name string, b []byte) (any, error) {
	if hasHuge(b) {
		return nil, fmt.Errorf("%s contains a number that is too large to check", name)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return nil, fmt.Errorf("%s is not JSON: line %d: %w", name, 1+bytes.Count(b[:min(int(syntax.Offset), len(b))], []byte("\n")), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", name, err)
	}
	return v, nil
}

// fileError rewrites a compiler error with the user's file names.
func fileError(err error, docs map[string]any) error {
	if load, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		return fmt.Errorf("$ref to %s: %w", inFolder(load.URL), load.Err)
	}
	if pointer, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return fmt.Errorf("$ref to %s: not found", inFolder(pointer.URL))
	}
	if anchor, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return fmt.Errorf("$ref to %s: there is no such anchor", inFolder(anchor.Reference))
	}
	return unusable(err, docs)
}

// inFolder converts a compiler's address to the user's file name.
func inFolder(address string) string { return strings.TrimPrefix(address, folderBase) }

// others are keywords that are valid in schemas although bare does not remove them.
var others = []string{"$defs", "definitions", "discriminator", "nullable", "xml", "externalDocs", "example", "enumNames"}

// misspelt warns about members of schemas that have no effect but resemble a keyword.
func misspelt(v any, pointer string, warn func(string)) {
	m, ok := v.(map[string]any)
	if !ok {
		return
	}
	for key := range m {
		if slices.Contains(keywords, key) || slices.Contains(others, key) {
			continue
		}
		if near := catalog.Nearest(key, keywords); near != "" {
			warn(fmt.Sprintf("%q at %s is not a keyword and has no effect; did you mean %s?", key, cmp.Or(pointer, "the schema's root"), near))
		}
	}
	for at, part := range subschemas(m, append([]string{"$defs", "definitions"}, schemaMaps...)) {
		misspelt(part, pointer+at, warn)
	}
}
