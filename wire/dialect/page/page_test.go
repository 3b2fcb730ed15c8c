package page_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire/dialect/mcp"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/page/load"
	"rpcx/wire/testkit"
)

// library has the only flow.
var library = &page.Library{Flows: map[string]page.Flow{"mcp": mcp.Flow()}}

// Each embedded dialect file is valid and has the name of its file.
func TestPages(t *testing.T) {
	if !slices.IsSorted(library.Names()) {
		t.Error("the names are not sorted")
	}
	for _, name := range library.Names() {
		where := name + ".toml"
		p, err := load.Parse(where, library.Source(name))
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name || p.Source == "" {
			t.Errorf("%s: the name is %q, the source %q", where, p.Name, p.Source)
		}
		if s, ok, err := library.Find(name); !ok || err != nil || s.Name != name || s.NewCodec == nil || s.NewServer == nil {
			t.Errorf("%s is not found: %v", name, err)
		}
	}
}

func TestFindNothing(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{"", "none-such", "Upper", "../qmp", "a/b"} {
		if s, ok, err := library.Find(name); ok || err != nil || library.Exists(name) {
			t.Errorf("%q: %+v, %v", name, s.Name, err)
		}
	}
	at := filepath.Join(t.TempDir(), "own.toml")
	if _, _, err := library.Find(at); err == nil || !strings.Contains(err.Error(), "there is no dialect file") {
		t.Errorf("a path that does not exist: %v", err)
	}
	testkit.OK(t, os.WriteFile(at+".toml", []byte("name = 'x'\n"), 0o600))
	if s, ok, err := library.Find(at + ".toml"); !ok || err != nil || s.Name != at+".toml" {
		t.Errorf("%q, %v", s.Name, err)
	}
}
