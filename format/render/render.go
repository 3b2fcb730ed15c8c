// Package render renders Go's templates over JSON values.
//
// It parses with text/template/parse and executes by itself: text/template
// calls methods by name, which makes the linker keep every exported method in
// the binary (2 MB more, and more to load at each start). JSON values have no
// methods, and numbers of theirs compare and format as numbers here, with all
// their digits, which text/template cannot do. What differs: an array or an
// object prints as JSON, a field of null is null, and there is no call.
package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template/parse"
)

// suffix is what names a template in a directory.
const suffix = ".tmpl"

// fallback is the template for content types that have none of their own.
const fallback = "default"

// A Set is one template for all values, or one for each content type. It may be
// used by one goroutine at a time.
type Set struct {
	trees  map[string]*parse.Tree
	single string            // the name of the only template; "": by content type
	types  map[string]string // content type, as file names spell it → template
}

// Load reads path: a template, or a directory of them. In a directory
// shell.output.tmpl is for the content type shell.output, text_plain.tmpl for
// text/plain (a slash is an underscore), default.tmpl for all others. The
// directory is listed once, here; its templates may use each other by file name.
func Load(path string) (*Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, cause(path, err)
	}
	s := &Set{trees: map[string]*parse.Tree{}, types: map[string]string{}}
	if !info.IsDir() {
		s.single = filepath.Base(path)
		return s, s.add(path, s.single)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, cause(path, err)
	}
	for _, e := range entries {
		contentType, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || contentType == "" || e.IsDir() {
			continue
		}
		if err := s.add(filepath.Join(path, e.Name()), e.Name()); err != nil {
			return nil, err
		}
		s.types[contentType] = e.Name()
	}
	if len(s.types) == 0 {
		return nil, fmt.Errorf("%s: no file ends in %s", path, suffix)
	}
	return s, nil
}

// cause puts the path before what is wrong with it.
func cause(path string, err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (s *Set) add(path, name string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return cause(path, err)
	}
	return s.parse(name, string(text))
}

func (s *Set) parse(name, text string) error {
	trees, err := parse.Parse(name, text, "", "", functions)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "template: "))
	}
	for name, tree := range trees {
		s.trees[name] = tree
	}
	return nil
}

// name is the template for a content type; "": none.
func (s *Set) name(contentType string) string {
	if s.single != "" {
		return s.single
	}
	if contentType != "" {
		if name := s.types[strings.ReplaceAll(contentType, "/", "_")]; name != "" {
			return name
		}
	}
	return s.types[fallback]
}

// Has says whether there is a template for a content type.
func (s *Set) Has(contentType string) bool { return s.name(contentType) != "" }

// Execute appends what the template for contentType makes of val, a JSON value.
// The template sees each string, and each key, as clean returns it. Loops end
// when ctx does.
func (s *Set) Execute(ctx context.Context, dst []byte, contentType string, val []byte, clean func(string) string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(val))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return dst, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return dst, errors.New("more than one value")
	}
	name := s.name(contentType)
	tree := s.trees[name]
	if tree == nil {
		return dst, fmt.Errorf("%s holds nothing", name)
	}
	x := &execution{ctx: ctx, set: s, out: dst}
	v = cleaned(v, clean)
	x.push("$", v)
	_, err := x.walk(v, tree.Root)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return x.out, err
}

func cleaned(v any, clean func(string) string) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = cleaned(v[i], clean)
		}
	case map[string]any:
		for key, val := range v {
			if c := clean(key); c != key {
				delete(v, key)
				key = c
			}
			v[key] = cleaned(val, clean)
		}
	}
	return v
}
