package dialects

import (
	"cmp"
	"slices"
	"strings"

	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/all"
	"rpcx/wire/scan"
)

// ModuleOf returns the module of that name in c as a catalog, or nil.
func ModuleOf(c *catalog.Catalog, name string) *catalog.Catalog {
	modules := Modules(c)
	i := slices.IndexFunc(modules, func(m format.Module) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	part, m := c.Clone(), modules[i]
	part.Extra = scan.Pair("modules", scan.ArrayOf(scan.List(scan.Get(c.Extra, "modules"))[i]))
	part.Info.Name, part.Info.Version, part.Info.Description = name, m.Version, m.Description
	part.Methods = slices.DeleteFunc(part.Methods, func(m catalog.Method) bool { return !strings.HasPrefix(m.Name, name+"_") })
	return part
}

// Modules returns the modules of c for a table, or nil for a catalog without modules.
func Modules(c *catalog.Catalog) (modules []format.Module) {
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		m := format.Module{
			Name:        scan.String(scan.Get(val, "namespace")),
			Version:     cmp.Or(scan.String(scan.Get(val, "version")), c.Info.Version),
			Description: cmp.Or(scan.String(scan.Get(val, "description")), c.Info.Description),
		}
		for _, method := range c.Methods {
			if name, ok := strings.CutPrefix(method.Name, m.Name+"_"); ok {
				m.Methods = append(m.Methods, name)
			}
		}
		modules = append(modules, m)
	}
	return modules
}

// UnknownModules returns the requested modules without a schema. With name, it considers only that module, or the
// module of that method.
func UnknownModules(c *catalog.Catalog, name string) (names []string) {
	spec := all.Named(c.Dialect)
	for val := range scan.Elements(scan.Get(c.Extra, "unknown")) {
		module := scan.String(val)
		if name == "" || name == module || spec.Discovery.ByModule() && module == spec.Discovery.Module(spec.Names.OnWire(name)) {
			names = append(names, format.CleanLine(module))
		}
	}
	return names
}
