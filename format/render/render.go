// Package render renders Go's templates (text/template) with JSON values.
package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"rpcx/wire/userfile"
)

const (
	suffix    = ".tmpl"
	fallback  = "default" // the template for content types without one
	maxOutput = 64 << 20  // bounds the output in bytes, because a peer's value may determine the length of a loop
)

// A Set is one template for all values, or one for each content type.
type Set struct {
	templates *template.Template
	single    string // the name of the only template, or "" to choose by content type
}

// Load reads path: a template ("-" is stdin), or a directory of templates. In a directory, shell.output.tmpl is for the content
// type shell.output, text_plain.tmpl for text/plain (with an underscore for the slash), and default.tmpl for other types. Load
// ignores hidden files. Only Load lists the directory. Its templates may use each other by file name.
func Load(path string) (*Set, error) {
	s := &Set{templates: template.New("").Funcs(functions)}
	if info, err := os.Stat(path); err != nil && path != "-" {
		return nil, err
	} else if path == "-" || !info.IsDir() {
		s.single = filepath.Base(path)
		text, err := userfile.Read(path)
		if err == nil {
			_, err = s.templates.New(s.single).Parse(string(text))
		}
		return s, plain(err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, suffix) && name[0] != '.' && !e.IsDir() {
			files = append(files, filepath.Join(path, name))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no file ends in %s", path, suffix)
	}
	_, err = s.templates.ParseFiles(files...)
	return s, plain(err)
}

// plain returns an error of text/template without its first word.
func plain(err error) error {
	if err == nil {
		return nil
	}
	if text, ok := strings.CutPrefix(err.Error(), "template: "); ok {
		return errors.New(text)
	}
	return err
}

// lookup returns the template for a content type, or nil.
func (s *Set) lookup(contentType string) *template.Template {
	if s.single != "" {
		return s.templates.Lookup(s.single)
	}
	if !strings.HasPrefix(contentType, ".") && !strings.ContainsAny(contentType, "\\\x00") {
		if t := s.templates.Lookup(strings.ReplaceAll(contentType, "/", "_") + suffix); t != nil {
			return t
		}
	}
	return s.templates.Lookup(fallback + suffix)
}

// Has reports whether there is a template for a content type.
func (s *Set) Has(contentType string) bool { return s.lookup(contentType) != nil }

// Execute appends the output of the template for contentType on val, a JSON value. The template sees each string and
// key as clean returns it. Execute returns when ctx ends.
func (s *Set) Execute(ctx context.Context, dst []byte, contentType string, val []byte, clean func(string) string) ([]byte, error) {
	t := s.lookup(contentType)
	if t == nil {
		return dst, fmt.Errorf("no template for %q", contentType)
	}
	dec := json.NewDecoder(bytes.NewReader(val))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return dst, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return dst, errors.New("more than one value")
	}
	// A failing write ends a loop that prints. A loop that prints nothing keeps running in a goroutine with its own
	// buffer.
	out := &output{ctx: ctx}
	done := make(chan error, 1)
	go func() { done <- t.Execute(out, convert(v, clean)) }()
	select {
	case err := <-done:
		if err != nil {
			return dst, plain(err)
		}
		return append(dst, out.text...), nil
	case <-ctx.Done():
		return dst, ctx.Err()
	}
}

// output collects a template's output until that is too large or ctx ends.
type output struct {
	ctx  context.Context
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if len(o.text)+len(p) > maxOutput {
		return 0, fmt.Errorf("a value prints more than %d bytes", maxOutput)
	}
	o.text = append(o.text, p...)
	return len(p), nil
}
