package validate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"rpcx/commands/request"
	"rpcx/format/report"
	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/dialect/jsonrpc"
	"rpcx/wire/scan"
	"rpcx/wire/userfile"
	"rpcx/wire/validate"
	"rpcx/wire/validate/versions"
)

// versions compares the catalog of a peer, or in a file, with an older one.
func (o *validateOptions) versions(ctx context.Context, r *outcome, args []string) error {
	if len(args) != 1 {
		return r.run.Line.Usage("--against takes one ENDPOINT or catalog, not %d", len(args)).WithHint("rpcx validate NEW --against OLD")
	}
	before, _, err := o.offered(ctx, r, o.against)
	if err != nil {
		return err
	}
	now, name, err := o.offered(ctx, r, args[0])
	if err != nil {
		return err
	}
	if now.Dialect == "" || before.Dialect == "" { // a catalog may omit its dialect
		now.Dialect, before.Dialect = "", ""
	}
	found, err := versions.Compare(before, now)
	if err != nil {
		return wire.NewFault(wire.Usage, err.Error(), err)
	}
	r.suite("rpcx validate --against " + o.against)
	cases, places := []report.Case{{Name: "the catalog as a whole", Class: name}}, map[string]int{"": 0}
	of := func(method string) *report.Case { // also of a method that was removed
		i, known := places[method]
		if !known {
			i, cases = len(cases), append(cases, report.Case{Name: method, Class: name})
			places[method] = i
		}
		return &cases[i]
	}
	for _, method := range now.Methods {
		of(method.Name)
	}
	for i := range found {
		p := &found[i]
		p.Source = name
		p.Warning = p.Level != versions.Breaking || o.allow == "breaking"
		r.into(of(p.Method), p)
		if err := r.print(p); err != nil {
			return err
		}
	}
	for _, c := range cases {
		r.add(c)
	}
	return r.write(r.sumVersions(found, name, o.against))
}

// sumVersions prints the number of differences of each class.
func (r *outcome) sumVersions(found []validate.Problem, now, against string) error {
	var words []string
	for _, class := range versions.Classes {
		n := 0
		for _, d := range found {
			if d.Level == class {
				n++
			}
		}
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, class))
		}
	}
	text := fmt.Sprintf("%s differs from %s: %s", now, against, strings.Join(words, ", "))
	switch {
	case len(found) == 0:
		r.run.Console.Note(now + " does not differ from " + against)
	case slices.ContainsFunc(found, func(p validate.Problem) bool { return !p.Warning }):
		return wire.NewFault(wire.Expectation, text, nil).WithHint("--allow breaking prints the differences without failing")
	default:
		r.run.Console.Note(text)
	}
	return nil
}

// offered returns the catalog of the peer or file that arg names, and a name for it.
func (o *validateOptions) offered(ctx context.Context, r *outcome, arg string) (*catalog.Catalog, string, error) {
	if !isPeer(arg) {
		c, err := loadCatalog(arg)
		return c, arg, err
	}
	args := r.run.Line.Args
	r.run.Line.Args = []string{arg}
	e, _, err := request.Endpoint(ctx, r.run, o.client.Conn.Dialect)
	r.run.Line.Args = args
	if err != nil {
		return nil, "", err
	}
	c, err := request.FetchCatalog(ctx, r.run, e, &o.client, "", false)
	return c, e.String(), err
}

// isPeer reports whether an argument names a peer: it begins with @ or has a transport, and is not the name of a file.
func isPeer(arg string) bool {
	if strings.HasPrefix(arg, "@") {
		return true
	}
	if _, err := os.Stat(arg); err == nil {
		return false
	}
	return strings.Contains(arg, ":")
}

// loadCatalog reads a file that is a catalog, an OpenRPC document, or the result of MCP's tools/list.
func loadCatalog(file string) (*catalog.Catalog, error) {
	b, err := userfile.Read(file)
	b = userfile.Unmarked(b)
	if err == nil && scan.Valid(b, wire.DefaultMaxDepth) == nil && scan.Get(b, "catalog") == nil {
		tools := scan.Get(b, "tools")
		if tools == nil { // the whole response
			tools = scan.Get(scan.Get(b, "result"), "tools")
		}
		switch {
		case tools != nil:
			return ofTools(tools), nil
		case scan.Get(b, "openrpc") != nil:
			c, err := jsonrpc.FromOpenRPC(b)
			if err != nil {
				return nil, wire.NewFault(wire.Usage, file+": "+err.Error(), err)
			}
			return c, nil
		}
	}
	return catalog.Load(file)
}

// ofTools returns the catalog of the tools in a result of MCP's tools/list.
func ofTools(tools []byte) *catalog.Catalog {
	c := &catalog.Catalog{Dialect: "mcp"}
	for tool := range scan.Elements(tools) {
		m := catalog.Method{Name: scan.String(scan.Get(tool, "name")), Kind: catalog.Call, Params: scan.Get(tool, "inputSchema"), Result: scan.Get(tool, "outputSchema")}
		m.Description = cmp.Or(scan.String(scan.Get(tool, "description")), scan.String(scan.Get(tool, "title")))
		if extra := scan.Without(tool, "name", "description", "inputSchema", "outputSchema"); string(extra) != "{}" {
			m.Extra = extra
		}
		c.Methods = append(c.Methods, m)
	}
	return c
}
