// Package all is the table of dialects: the dialects in Go and the dialect files. A new dialect is a directory below
// wire/dialect with a row here, or a dialect file.
package all

import (
	"cmp"
	"slices"
	"sync"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/a2a"
	"rpcx/wire/dialect/hotrepl"
	"rpcx/wire/dialect/introspect"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/dialect/mcp"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/ro"
	"rpcx/wire/dialect/scomp"
	"rpcx/wire/dialect/scriptling"
)

// Specs returns the dialects in Go, the default dialect first. The caller must not change the slice.
func Specs() []dialect.Spec { return specs() }

var specs = sync.OnceValue(func() []dialect.Spec {
	return []dialect.Spec{
		jsonrpc.Spec(),
		jsonrpc.Spec1(),
		introspect.Spec(),
		scriptling.Spec(),
		ro.Spec(),
		scomp.Spec(),
		hotrepl.Spec(),
	}
})

// Detected returns the dialects with a Detection, including valid dialect files.
func Detected() []dialect.Spec { return detected() }

var detected = sync.OnceValue(func() (rows []dialect.Spec) {
	for _, name := range append(Names(), OwnNames()...) {
		if s := Named(name); s.Detection != nil {
			rows = append(rows, s)
		}
	}
	return rows
})

var pages = sync.OnceValue(func() *page.Library {
	l := &page.Library{Flows: map[string]page.Flow{"a2a": a2a.Flow(), "mcp": mcp.Flow()}}
	l.Others = wire.Map(Specs(), func(s dialect.Spec) string { return s.Name })
	return l
})

// Pages returns the dialect files with the flows that they can name.
func Pages() *page.Library { return pages() }

// Default returns the name of the default dialect.
func Default() string { return Specs()[0].Name }

// Find returns the dialect of a name or of the path of a dialect file. It returns false if there is none or it is
// invalid.
func Find(name string) (dialect.Spec, bool) {
	s, ok, _ := find(name)
	return s, ok
}

func find(name string) (dialect.Spec, bool, error) {
	if s := wire.Find(Specs(), func(s *dialect.Spec) bool { return s.Name == name }); s != nil {
		return *s, true, nil
	}
	return pages().Find(name)
}

// OwnNames returns the names of the dialect files in the user's configuration directory.
func OwnNames() []string { return pages().OwnNames() }

// Named returns the Spec of a name. For an unknown name, such as "", it returns the zero Spec.
func Named(name string) dialect.Spec {
	s, _ := Find(name)
	return s
}

// Lookup finds the dialect that a user named. For an unknown name, it returns a usage Fault that suggests the most
// similar name, or the error in the dialect file.
func Lookup(name string) (dialect.Spec, error) {
	if err := pages().Clash(name); err != nil {
		return dialect.Spec{}, err
	}
	s, ok, err := find(name)
	if ok || err != nil {
		return s, err
	}
	return dialect.Spec{}, unknown(name)
}

func unknown(name string) *wire.Fault {
	return wire.Usagef("unknown dialect %q", name).WithHint(catalog.DidYouMean(name, Names()))
}

// Has reports whether name is a row of the table or a dialect file, even an invalid one.
func Has(name string) bool {
	return slices.ContainsFunc(Specs(), func(s dialect.Spec) bool { return s.Name == name }) || pages().Exists(name)
}

// Names returns the names in the table's order, followed by the names of the dialect files.
func Names() []string {
	names := wire.Map(Specs(), func(s dialect.Spec) string { return s.Name })
	return append(names, pages().Names()...)
}

// NamesOf returns the names of the dialects with a property, as a phrase: "scomp or hotrepl".
func NamesOf(has func(s dialect.Spec) bool) string {
	var names []string
	for _, s := range Specs() {
		if has(s) {
			names = append(names, s.Name)
		}
	}
	return wire.Phrase(names, "or")
}

// OnTape returns the name of a dialect for the header of a tape. For a dialect file's path, this is the name in the
// file.
func OnTape(name string) string { return pages().NameOf(name) }

// FromTape returns the dialect in a tape's header: the user's dialect file with that name or, without one, the dialect of
// that name. "" is the default dialect. Errors are usage Faults.
func FromTape(name string) (dialect.Spec, error) {
	name = cmp.Or(name, Default())
	if path, ok := pages().Given(name); ok {
		name = path
	}
	s, ok, err := find(name)
	if ok || err != nil {
		return s, err
	}
	f := unknown(name)
	f.Hint = cmp.Or(f.Hint, "give its dialect file: --dialect ./"+name+".toml")
	return dialect.Spec{}, f
}

// ShapeOf returns the Shape of the dialect in a tape's header. Errors are usage Faults.
func ShapeOf(name string) (dialect.Shape, error) {
	s, err := FromTape(name)
	if err != nil {
		return dialect.Shape{}, err
	}
	return s.Shape(), nil
}
