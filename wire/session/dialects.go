package session

import (
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/all"
)

// Dialects are the names of the table.
func Dialects() []string { return all.Names() }

// SpecOf returns the row of e's dialect.
func SpecOf(e Endpoint) dialect.Spec { return all.Named(e.Dialect) }

// CodecOptions are what e says to its codec.
func (e Endpoint) CodecOptions(o wire.Options) dialect.CodecOptions {
	return dialect.CodecOptions{
		MaxDepth: o.MaxDepth, Framing: e.Framing, OneWay: isHTTP(e),
		NoEnvironment: e.NoEnvironment, ShutdownTimeout: e.ShutdownTimeout,
	}
}

func specOf(name string) (dialect.Spec, error) {
	if s, ok := all.Find(name); ok {
		return s, nil
	}
	f := usage("unknown dialect %q", name)
	if near := catalog.Nearest(name, Dialects()); near != "" {
		f.Hint = "did you mean " + near + "?"
	}
	return dialect.Spec{}, f
}

// SpecNamed returns the row of a dialect's name; for a name that is not in the
// table, such as "", a Spec without any property.
func SpecNamed(name string) dialect.Spec { return all.Named(name) }
