// Systems checks that the program and its tests compile for other systems:
//
//	systems OS/ARCH...
//
// It loads the types of the module in the current directory from source, and only the declarations of imported packages. Because it
// compiles no package, it takes much less time than go vet.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	status := 0
	for _, system := range os.Args[1:] {
		goos, goarch, ok := strings.Cut(system, "/")
		if !ok {
			fmt.Fprintln(os.Stderr, "usage: systems OS/ARCH...")
			os.Exit(2)
		}
		problems, err := check(goos, goarch)
		if err != nil {
			problems = append(problems, err.Error())
		}
		for _, problem := range problems {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, problem)
			status = 1
		}
	}
	os.Exit(status)
}

// check returns the errors that the compiler would report for the module's packages and their tests.
func check(goos, goarch string) (problems []string, err error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	ours := folder + string(os.PathSeparator)
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, ours) {
				for _, decl := range file.Decls {
					if f, ok := decl.(*ast.FuncDecl); ok {
						f.Body = nil
					}
				}
			}
			return file, err
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("there is no package in %s", folder)
	}
	said := map[string]bool{}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if e.Kind == packages.TypeError && !strings.HasPrefix(e.Pos, ours) {
				continue // without function bodies, imported packages seem to have unused imports and similar errors
			}
			if !said[e.Error()] {
				said[e.Error()] = true
				problems = append(problems, e.Error())
			}
		}
	})
	return problems, nil
}
