package commands

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

const (
	mostFields     = 20  // fields of a struct that holds state
	mostLines      = 300 // lines of a file
	mostFiles      = 20  // files of a directory
	mostComplexity = 15  // of a function: the number of its branches, plus one
)

// tables are structs of settings, with a field for each setting of a user or a dialect. They have no state and are not part of a
// struct with state.
var tables = []string{"session.Options", "load.Page"}

// TestSizes checks that files, directories, structs and functions are small enough to be read at once. Tests and files for a single
// operating system are exempt.
func TestSizes(t *testing.T) {
	testkit.RaceSkips(t)
	src := readSources(t)
	for dir, n := range src.files {
		if n > mostFiles {
			t.Errorf("%s has %d files, more than %d: which of them can be a package?", dir, n, mostFiles)
		}
	}
	large := map[string]int{}
	for name, s := range src.structs {
		if n := src.members(s); n > mostFields && !slices.Contains(tables, s.name) {
			large[name] = n
		}
	}
	compare(t, "fields", mostFields, large, largeStructs)
	compare(t, "branches", mostComplexity, src.branches, branchyFunctions)
}

// compare fails for each number in found that exceeds most and the bound in the table, and for each row that is not needed.
func compare(t *testing.T, what string, most int, found map[string]int, table map[string]exception) {
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if bound := max(table[name].bound, most); found[name] > bound {
			t.Errorf("%s has %d %s, more than %d: which of them belong together?", name, found[name], what, bound)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if found[name] == 0 {
			t.Errorf("%s has at most %d %s, or no longer exists: remove its row from sizes_exceptions_test.go", name, most, what)
		}
	}
}

// sources describes the packages of the tree, without tests.
type sources struct {
	files    map[string]int         // by directory
	structs  map[string]*structType // by directory and name
	users    map[string][]string    // types and directories that use a struct
	branches map[string]int         // functions with too many branches
}

type structType struct {
	dir, name, key string // name is qualified with the package, key with the directory
	fields         *ast.FieldList
}

func readSources(t *testing.T) *sources {
	src := &sources{map[string]int{}, map[string]*structType{}, map[string][]string{}, map[string]int{}}
	type parsed struct {
		dir  string
		file *ast.File
	}
	var all []parsed
	for _, file := range filesIn(t, ".go", ".") {
		if strings.Contains(file, "/testdata/") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := read(t, file)
		if n := strings.Count(text, "\n"); n > mostLines {
			t.Errorf("%s has %d lines, more than %d: split it by its jobs", file, n, mostLines)
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution|parser.ParseComments)
		testkit.OK(t, err)
		dir := path.Dir(strings.TrimPrefix(file, "../"))
		if !ofOneSystem(file, syntax) {
			src.files[dir]++
		}
		all = append(all, parsed{dir, syntax})
	}
	for _, p := range all {
		src.declared(p.dir, p.file)
	}
	for _, p := range all {
		src.used(p.dir, p.file)
	}
	return src
}

// ofOneSystem reports whether a file is built only for some operating systems.
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

// declared collects a file's structs, and its functions with too many branches.
func (src *sources) declared(dir string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				key := dir + "." + n.Name.Name
				src.structs[key] = &structType{dir, file.Name.Name + "." + n.Name.Name, key, s.Fields}
			}
		case *ast.FuncDecl:
			name := n.Name.Name
			if n.Recv != nil {
				name = typeName(n.Recv.List[0].Type) + "." + name
			}
			if b := complexity(n); b > mostComplexity {
				src.branches[dir+"."+name] = b
			}
		}
		return true
	})
}

// used records which types have fields of a struct or name it in their methods, and which other packages name it.
func (src *sources) used(dir string, file *ast.File) {
	for _, d := range file.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					src.named(dir, typeName(n.Recv.List[0].Type), n)
				}
			case *ast.TypeSpec:
				src.named(dir, n.Name.Name, n.Type)
			case *ast.SelectorExpr:
				if from, ok := n.X.(*ast.Ident); ok {
					src.use(imported(file, from.Name)+"."+n.Sel.Name, dir)
				}
			}
			return true
		})
	}
}

// named records that the type user uses each struct that n names.
func (src *sources) named(dir, user string, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // the name of a member is not the name of a type
			src.named(dir, user, n.X)
			return false
		case *ast.Field:
			src.named(dir, user, n.Type)
			return false
		case *ast.Ident:
			src.use(dir+"."+n.Name, dir+"."+user)
		}
		return true
	})
}

func (src *sources) use(name, user string) {
	if src.structs[name] != nil && name != user && !slices.Contains(src.users[name], user) {
		src.users[name] = append(src.users[name], user)
	}
}

// imported returns the directory of the package that a file imports as name.
func imported(file *ast.File, name string) string {
	for _, i := range file.Imports {
		dir, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "rpcx/")
		if ours && (i.Name != nil && i.Name.Name == name || i.Name == nil && filepath.Base(dir) == name) {
			return dir
		}
	}
	return ""
}

// members counts a struct's fields. If a field's type is a struct that only this one uses, or a pointer to it, that struct's fields
// count instead. A pointer back to the owner counts as one field.
func (src *sources) members(s *structType) int {
	n := 0
	for _, f := range s.fields.List {
		one := 1
		if inner, ok := f.Type.(*ast.StructType); ok {
			one = src.members(&structType{dir: s.dir, fields: inner.Fields})
		} else if part := src.structs[s.dir+"."+typeName(f.Type)]; part != nil && src.isPart(part, s, f) {
			one = src.members(part)
		}
		n += one * max(len(f.Names), 1)
	}
	return n
}

func (src *sources) isPart(part, of *structType, f *ast.Field) bool {
	users := src.users[part.key]
	_, pointer := f.Type.(*ast.StarExpr)
	owner := pointer && slices.Contains(src.users[of.key], part.key)
	return len(users) == 1 && users[0] == of.key && !owner && !slices.Contains(tables, part.name)
}

// typeName returns the name of a type, or of the type that a pointer points to, in the same package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	}
	return ""
}

// complexity returns the cyclomatic complexity (McCabe) of a function: one, plus one for each condition, loop, case and && or ||.
func complexity(f *ast.FuncDecl) int {
	n := 1
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(len(node.List), 1)
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
