package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A finder finds the possible changes in one file.
type finder struct {
	p           *packages.Package
	file, short string
	text        string
	found       []*mutant
}

func (f *finder) walk(file *ast.File) {
	var results []*types.Signature // the signatures of the functions around a node, the innermost last
	var nodes []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			switch nodes[len(nodes)-1].(type) {
			case *ast.FuncDecl, *ast.FuncLit:
				results = results[:len(results)-1]
			}
			nodes = nodes[:len(nodes)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.CommentGroup:
			return false
		case *ast.GenDecl:
			if n.Tok == token.CONST || n.Tok == token.TYPE {
				return false
			}
		case *ast.ArrayType:
			return false
		case *ast.FuncDecl:
			signature, _ := f.p.TypesInfo.Defs[n.Name].Type().(*types.Signature)
			results = append(results, signature)
		case *ast.FuncLit:
			signature, _ := f.p.TypesInfo.TypeOf(n).(*types.Signature)
			results = append(results, signature)
		}
		nodes = append(nodes, n)
		f.node(n, nodes, results)
		return true
	})
}

// node adds the possible changes of n itself, without those of its children.
func (f *finder) node(n ast.Node, nodes []ast.Node, results []*types.Signature) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			if b, ok := n.Cond.(*ast.BinaryExpr); !ok || b.Op == token.LAND || b.Op == token.LOR {
				f.condition(n.Cond)
			}
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.BasicLit:
		f.number(n, nodes)
	case *ast.Ident:
		f.truth(n, nodes)
	case *ast.ReturnStmt:
		f.result(n, results)
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.AssignStmt, *ast.BranchStmt:
		f.statement(n.(ast.Stmt), nodes)
	}
}

// condition adds a change that inverts a condition or, if the condition checks for an error, ignores the error.
func (f *finder) condition(cond ast.Expr) {
	if !f.isBool(cond) {
		return
	}
	text := f.source(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.NEQ && f.isError(b.X) && f.isNil(b.Y) {
		f.add(cond, "error ignored", func(on, _ string) string { return "(" + text + " && !" + on + ")" })
		return
	}
	f.add(cond, "condition turned", func(on, _ string) string { return "(" + on + " != (" + text + "))" })
}

// neighbours maps each operator to a similar one with which programmers confuse it.
var neighbours = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.LAND: "||", token.LOR: "&&",
}

func (f *finder) binary(n *ast.BinaryExpr) {
	other, ok := neighbours[n.Op]
	if !ok || !f.isBool(n) || f.p.TypesInfo.Types[n].Value != nil {
		return
	}
	x, y := f.source(n.X), f.source(n.Y)
	f.add(n, "for "+n.Op.String()+" "+other, func(on, _ string) string {
		return fmt.Sprintf("(%s && (%s %s %s) || !%s && (%s %s %s))", on, x, other, y, on, x, n.Op, y)
	})
}

// number adds a change that increments a number or, for a file mode, permits access by other users.
func (f *finder) number(n *ast.BasicLit, nodes []ast.Node) {
	tv := f.p.TypesInfo.Types[n]
	if n.Kind != token.INT || tv.Value == nil || tv.Value.Kind() != constant.Int || !f.changeable(nodes) {
		return
	}
	name := f.typeName(tv.Type)
	value, exact := constant.Int64Val(tv.Value)
	if name == "" || !exact {
		return
	}
	other := fmt.Sprint(value + 1)
	if strings.HasPrefix(n.Value, "0o") {
		other = fmt.Sprintf("%#o", value|0o55)
		if value&0o111 == 0 {
			other = fmt.Sprintf("%#o", value|0o44)
		}
	}
	f.add(n, "for "+n.Value+" "+other, func(_, id string) string {
		return fmt.Sprintf("mutant.Pick[%s](%s, %s, %s)", name, id, n.Value, other)
	})
}

func (f *finder) truth(n *ast.Ident, nodes []ast.Node) {
	if object := f.p.TypesInfo.Uses[n]; object != types.Universe.Lookup("true") && object != types.Universe.Lookup("false") {
		return
	}
	if f.changeable(nodes) && f.isBool(n) {
		f.add(n, "for "+n.Name+" the contrary", func(on, _ string) string { return "(" + on + " != " + n.Name + ")" })
	}
}

// changeable reports whether an expression can be evaluated at run time instead of at compile time.
func (f *finder) changeable(nodes []ast.Node) bool {
	for i := len(nodes) - 2; i >= 0; i-- {
		switch parent := nodes[i].(type) {
		case *ast.CaseClause:
			return false
		case *ast.KeyValueExpr:
			if parent.Key == nodes[i+1] {
				return false
			}
		case ast.Expr:
			// A part of a constant expression cannot be changed, because only the whole expression has a fixed type, as in 5 * time.Second.
			if f.p.TypesInfo.Types[parent].Value != nil {
				return false
			}
		case ast.Stmt:
			return true
		}
	}
	return true
}

// result adds a change that returns nil instead of an error.
func (f *finder) result(n *ast.ReturnStmt, results []*types.Signature) {
	if len(results) == 0 || results[len(results)-1] == nil {
		return
	}
	want := results[len(results)-1].Results()
	if want.Len() == 0 || want.Len() != len(n.Results) || want.At(want.Len()-1).Type() != types.Universe.Lookup("error").Type() {
		return
	}
	last := n.Results[len(n.Results)-1]
	if f.isNil(last) {
		return
	}
	text := f.source(last)
	f.add(last, "nil returned", func(_, id string) string { return "mutant.Nil(" + id + ", " + text + ")" })
}

// statement adds a change that removes a statement.
func (f *finder) statement(n ast.Stmt, nodes []ast.Node) {
	if len(nodes) < 2 {
		return
	}
	switch nodes[len(nodes)-2].(type) {
	case *ast.BlockStmt, *ast.CaseClause:
	default:
		return // the init statement of an if, or the post statement of a loop
	}
	if needed(n) {
		return
	}
	text := f.source(n)
	f.add(n, "dropped", func(on, _ string) string { return "if !" + on + " { " + text + " }" })
}

// needed reports whether removing n would break the build or change nothing.
func needed(n ast.Stmt) bool {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok == token.DEFINE || slices.ContainsFunc(n.Lhs, func(left ast.Expr) bool {
			name, ok := left.(*ast.Ident)
			return ok && name.Name == "_"
		})
	case *ast.BranchStmt:
		return n.Label != nil || n.Tok == token.GOTO || n.Tok == token.FALLTHROUGH
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok {
			name, ok := call.Fun.(*ast.Ident)
			return ok && name.Name == "panic"
		}
	}
	return false
}

func (f *finder) add(n ast.Node, kind string, with func(on, id string) string) {
	from, to := f.p.Fset.Position(n.Pos()), f.p.Fset.Position(n.End())
	f.found = append(f.found, &mutant{
		file: f.file, place: fmt.Sprintf("%s:%d", f.short, from.Line), start: from.Offset, end: to.Offset,
		kind: kind, old: f.source(n), with: with,
	})
}

func (f *finder) source(n ast.Node) string {
	return f.text[f.p.Fset.Position(n.Pos()).Offset:f.p.Fset.Position(n.End()).Offset]
}

func (f *finder) isBool(e ast.Expr) bool {
	t := f.p.TypesInfo.TypeOf(e)
	return t == types.Typ[types.Bool] || t == types.Typ[types.UntypedBool]
}

func (f *finder) isError(e ast.Expr) bool {
	return f.p.TypesInfo.TypeOf(e) == types.Universe.Lookup("error").Type()
}

func (f *finder) isNil(e ast.Expr) bool { return f.p.TypesInfo.Types[e].IsNil() }

// typeName returns the name of t as it can be written in the file, for basic types, types of the file's package, and fs.FileMode.
// For other types, it returns "".
func (f *finder) typeName(t types.Type) string {
	switch t := t.(type) {
	case *types.Basic:
		if t.Info()&types.IsUntyped != 0 {
			return "int"
		}
		return t.Name()
	case *types.Named:
		if t.Obj().Pkg() == f.p.Types && t.Obj().Parent() == f.p.Types.Scope() {
			return t.Obj().Name()
		}
		if t.Obj().Pkg() != nil && t.Obj().Pkg().Path() == "io/fs" {
			return "mutant.FileMode"
		}
	}
	return ""
}
