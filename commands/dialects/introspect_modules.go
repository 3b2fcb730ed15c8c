package dialects

import (
	"strings"

	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/introspect"
	"rpcx/wire/scan"
)

// moduleOf returns the module of that name in c as a catalog, or nil.
func moduleOf(c *catalog.Catalog, name string) *catalog.Catalog {
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		if text, _ := scan.Text(scan.Get(val, "namespace")); text != name {
			continue
		}
		m := c.Clone()
		m.Extra = scan.Pair("modules", scan.ArrayOf(val))
		m.Info.Name = name
		if text, ok := scan.Text(scan.Get(val, "version")); ok {
			m.Info.Version = text
		}
		if text, ok := scan.Text(scan.Get(val, "description")); ok {
			m.Info.Description = text
		}
		m.Methods = nil
		for _, entry := range c.Methods {
			if strings.HasPrefix(entry.Name, name+"_") {
				m.Methods = append(m.Methods, entry)
			}
		}
		return m
	}
	return nil
}

// modulesOf returns the modules of c for a table, or nil.
func modulesOf(c *catalog.Catalog) []format.Module {
	methods := map[string][]string{}
	for _, m := range c.Methods {
		module, name := introspect.Split(m.Name)
		methods[module] = append(methods[module], name)
	}
	var all []format.Module
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		m := format.Module{Version: c.Info.Version, Description: c.Info.Description}
		m.Name, _ = scan.Text(scan.Get(val, "namespace"))
		if text, ok := scan.Text(scan.Get(val, "version")); ok {
			m.Version = text
		}
		if text, ok := scan.Text(scan.Get(val, "description")); ok {
			m.Description = text
		}
		m.Methods = methods[m.Name]
		all = append(all, m)
	}
	return all
}

// moduleNames returns the names of the modules of c.
func moduleNames(c *catalog.Catalog) (names []string) {
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		if name, ok := scan.Text(scan.Get(val, "namespace")); ok {
			names = append(names, name)
		}
	}
	return names
}

// unknownModules returns the requested modules without a schema. With name, it considers only that module, or the
// module of that method.
func unknownModules(c *catalog.Catalog, name string) (names []string) {
	for val := range scan.Elements(scan.Get(c.Extra, "unknown")) {
		module, _ := scan.Text(val)
		if name == "" || name == module || module == moduleNamed(name) {
			names = append(names, format.CleanLine(module))
		}
	}
	return names
}

// moduleNamed returns the module of a method name.
func moduleNamed(method string) string {
	module, _ := introspect.Split(introspect.WireName(method))
	return module
}
