package serve

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// demos are catalogs whose methods are implemented in jq. rpcx runs their commands because they are embedded.
//
//go:embed demo/*.json
var demos embed.FS

// Demo returns a new copy of the catalog of an embedded demo, with its run members, or nil if there is no such demo.
func Demo(name string) *catalog.Catalog {
	b, err := demos.ReadFile("demo/" + name + ".json")
	if err != nil {
		return nil
	}
	c, err := catalog.Parse(b)
	if err != nil {
		panic(fmt.Sprintf("the demo %s: %v", name, err)) // a test prevents this panic
	}
	c.Right = true
	return c
}

// DemoDialect returns the dialect of an embedded demo, or "" if the demo names none.
func DemoDialect(name string) (dialect string, ok bool) {
	b, err := demos.ReadFile("demo/" + name + ".json")
	return scan.String(scan.Get(b, "dialect")), err == nil
}

// DemoNames lists the demos.
func DemoNames() []string {
	files, _ := demos.ReadDir("demo")
	return wire.Map(files, func(f fs.DirEntry) string { return strings.TrimSuffix(f.Name(), ".json") })
}
