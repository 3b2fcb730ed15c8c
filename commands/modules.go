package commands

import (
	"context"
	"encoding/json"
	"strings"

	"rpcx/format"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
	"rpcx/wire/session"
)

// discovered is what the far side says of name: of a module or a method where
// the dialect tells module by module, else all; with name "" all.
func discovered(ctx context.Context, conv session.Conversation, name string) (*catalog.Catalog, error) {
	if name == "" || session.SpecNamed(conv.Dialect()).ModuleOf == nil {
		return conv.Describe(ctx)
	}
	c, err := conv.Typing(ctx, name)
	if c == nil && err == nil {
		err = wire.ErrUnsupported
	}
	return c, err
}

// keptCatalog is what e said of itself earlier, where it cannot be reached now
// (err); a user is told that it may be out of date.
func keptCatalog(a *app, e session.Endpoint, c *connFlags, err error) (*catalog.Catalog, error) {
	f := wire.AsFault(err)
	if f == nil || f.Kind != wire.Unreachable || c.refresh || c.noCache {
		return nil, err
	}
	kept := session.KeptCatalog(e, a.opened)
	if kept == nil {
		return nil, err
	}
	a.console.Warn(f.Error() + ": this is what the peer said earlier, which may be out of date")
	return kept, nil
}

// conventions returns what c means beyond its members, as its dialect has it. c
// may be nil.
func conventions(c *catalog.Catalog) catalog.Conventions {
	if c == nil {
		return catalog.Conventions{}
	}
	return session.SpecNamed(c.Dialect).Catalog
}

// listing shows c to people.
func (a *app) listing(c *catalog.Catalog) format.Listing {
	return format.Listing{Catalog: c, Conventions: conventions(c), Width: a.out.Width, Color: a.out.Color}
}

// moduleOf is the part of c that is the module of that name; nil where there is
// none.
func moduleOf(c *catalog.Catalog, name string) *catalog.Catalog {
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		if text, _ := scan.Text(scan.Get(val, "namespace")); text != name {
			continue
		}
		m := c.Clone()
		m.Extra = json.RawMessage(`{"modules":[` + string(val) + `]}`)
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

// modulesOf are the modules of c, as a table shows them; nil: it has none.
func modulesOf(c *catalog.Catalog) []format.Module {
	var all []format.Module
	for val := range scan.Elements(scan.Get(c.Extra, "modules")) {
		name, _ := scan.Text(scan.Get(val, "namespace"))
		if part := moduleOf(c, name); part != nil {
			var names []string
			for _, m := range part.Methods {
				names = append(names, strings.TrimPrefix(m.Name, name+"_"))
			}
			all = append(all, format.Module{Name: name, Version: part.Info.Version, Description: part.Info.Description, Methods: names})
		}
	}
	return all
}

// methodOf finds a method by its name, in either of the forms that users write.
func methodOf(c *catalog.Catalog, name string) *catalog.Method {
	if m := c.Method(name); m != nil || c == nil {
		return m
	}
	return c.Method(session.SpecNamed(c.Dialect).OnWire(name))
}
