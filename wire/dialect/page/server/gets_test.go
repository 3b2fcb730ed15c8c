package server

import (
	"maps"
	"slices"
	"testing"

	"rpcx/wire/catalog"
)

// described are hooks with a catalog.
type described struct{ hooks }

func (described) Catalog() *catalog.Catalog {
	return &catalog.Catalog{Info: catalog.Info{Name: "shop"}, Methods: []catalog.Method{{Name: "work"}}}
}

// The response to a GET of each path is made from the catalog, the hooks and the address of the request.
func TestGets(t *testing.T) {
	d := dialectOf(t, `
[serve.get]
"/about" = '{at: .url, name: $catalog.info.name, version: $version, hooks: $hooks}'
"/nothing" = 'empty'
"/fails" = 'error("no")'
`)
	gets := New(d, described{}, nil).Gets(catalog.Info{Version: "1.2"})
	if got := slices.Sorted(maps.Keys(gets)); !slices.Equal(got, []string{"/about", "/fails", "/nothing"}) {
		t.Fatal(got)
	}
	for path, want := range map[string]string{
		"/about":   `{"at":"ws://here/","hooks":["work"],"name":"shop","version":"1.2"}`,
		"/nothing": `null`,
	} {
		if got, err := gets[path]("ws://here/"); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", path, got, err, want)
		}
	}
	if _, err := gets["/fails"](""); err == nil {
		t.Error("a program that fails has a result")
	}
}
