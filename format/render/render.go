// Package render applies Go templates (text/template) to JSON values.
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
	fallback  = "default" // the template for content types that have none
	maxOutput = 64 << 20  // the maximum size of the output in bytes, because a value from the peer can determine how often a loop runs
)

// A Set is one template for all values, or a template for each content type.
type Set struct {
	templates *template.Template
	single    string // the name of the only template, or "" if the content type selects one
}

// Load reads the template at path ("-" is stdin), or all templates in the directory path. In a directory, shell.output.tmpl is
// for the content type shell.output, text_plain.tmpl for text/plain (with an underscore for the slash), and default.tmpl for
// all other types. Load ignores hidden files. After Load, no other files are read. Templates can use each other by file name.
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
		return nil, fmt.Errorf("%s: no file name ends in %s", path, suffix)
	}
	_, err = s.templates.ParseFiles(files...)
	return s, plain(err)
}

// plain removes the prefix from an error of text/template.
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

// Execute applies the template for contentType to val, a JSON value, and appends the output to dst. The template
// receives strings and keys in the form that clean returns. If ctx ends, Execute returns its error.
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
	// A write error ends a template that prints in a loop. A template that loops without printing keeps running in this
	// goroutine, with its own buffer.
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

// output collects the output of a template. Writing fails when the output is too large or ctx has ended.
type output struct {
	ctx  context.Context
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	if err := o.ctx.Err(); err != nil {
		return 0, err
	}
	if len(o.text)+len(p) > maxOutput {
		return 0, fmt.Errorf("the output for a value has more than %d bytes", maxOutput)
	}
	o.text = append(o.text, p...)
	return len(p), nil
}
