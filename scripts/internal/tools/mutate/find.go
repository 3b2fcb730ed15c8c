package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A source is a package of the program, with the possible changes of its code.
type source struct {
	path    string // the import path
	folder  string
	tested  bool // whether the package has tests
	mutants []*mutant
}

// A mutant is one careless change. It replaces the text of file from start to end by the result of with, whose arguments are an
// expression for the mutant's switch and the number of the switch.
type mutant struct {
	id         int
	file       string // absolute path
	place      string // file:line, which editors and terminals can open
	start, end int
	kind       string
	old        string
	with       func(on, id string) string
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s: %s: %s", m.place, m.kind, strings.Join(strings.Fields(shortened(m.old)), " "))
}

func shortened(text string) string {
	if len(text) > 90 {
		return text[:87] + "..."
	}
	return text
}

// load loads the packages to change, with their types, and finds the possible changes.
func load() ([]*source, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedExportFile | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
	}, "./wire/...", "./format/...", "./commands/...")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(loaded) > 0 {
		return nil, fmt.Errorf("the program does not compile")
	}
	var all []*source
	for _, p := range loaded {
		if len(p.GoFiles) == 0 || strings.HasSuffix(p.PkgPath, "/testkit") {
			continue
		}
		s := &source{path: p.PkgPath, folder: filepath.Dir(p.GoFiles[0])}
		tests, _ := filepath.Glob(filepath.Join(s.folder, "*_test.go"))
		s.tested = len(tests) > 0
		for _, file := range p.Syntax {
			name := p.Fset.Position(file.Pos()).Filename
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			short, err := filepath.Rel(here, name)
			if err != nil {
				return nil, err
			}
			f := &finder{p: p, file: name, short: short, text: string(text)}
			f.walk(file)
			s.mutants = append(s.mutants, f.found...)
		}
		all = append(all, s)
	}
	return all, nil
}
