package commands

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mostFields = 20  // of a struct that holds state
	mostLines  = 300 // of a file
	mostFiles  = 20  // of a folder
)

// tables are the structs that hold no state: what a user or a dialect said, a
// field for each thing that can be said.
var tables = []string{"session.Options", "load.Page"}

// TestSizes: files, folders and structs stay small enough to be read at once.
// Tests are exempt, as are wire/transport, which has a file for each transport,
// and files that only one operating system builds.
func TestSizes(t *testing.T) {
	files := map[string]int{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := bytes.Count(src, []byte("\n")); n > mostLines {
			t.Errorf("%s has %d lines, more than %d: what second job does it have?", path, n, mostLines)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		if !ofOneSystem(path, file) {
			files[filepath.Dir(path)]++
		}
		small(t, path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, n := range files {
		if n > mostFiles && dir != filepath.Join("..", "wire", "transport") {
			t.Errorf("%s has %d files, more than %d: which of them are a package?", dir, n, mostFiles)
		}
	}
}

// ofOneSystem says whether only some operating systems build a file.
func ofOneSystem(path string, file *ast.File) bool {
	name := strings.TrimSuffix(filepath.Base(path), ".go")
	for _, system := range []string{"_unix", "_linux", "_windows", "_darwin"} {
		if strings.HasSuffix(name, system) {
			return true
		}
	}
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		return c.Pos() < file.Package && strings.HasPrefix(c.List[0].Text, "//go:build")
	})
}

// small fails for each struct of a file that has too many fields.
func small(t *testing.T, path string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			name := file.Name.Name + "." + spec.Name.Name
			if fields := s.Fields.NumFields(); fields > mostFields && !slices.Contains(tables, name) {
				t.Errorf("%s: %s has %d fields, more than %d: which of them change together?", path, name, fields, mostFields)
			}
		}
		return true
	})
}
