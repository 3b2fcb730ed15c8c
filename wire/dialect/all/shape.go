package all

import (
	"cmp"
	"fmt"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
)

// ShapeOf returns how the messages of a dialect are recognised on a tape. "" stands for the default dialect. The error
// is a usage Fault.
func ShapeOf(name string) (dialect.Shape, error) {
	name = cmp.Or(name, Default())
	s, ok := Find(name)
	if !ok {
		f := wire.NewFault(wire.Usage, fmt.Sprintf("unknown dialect %q", name), nil)
		if near := catalog.Nearest(name, Names()); near != "" {
			f.Hint = "did you mean " + near + "?"
		}
		return dialect.Shape{}, f
	}
	return s.Shape(), nil
}
