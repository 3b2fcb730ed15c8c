package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/dialect/page/load"
)

// What rpcx brings along is right, and called as its file is.
func TestPages(t *testing.T) {
	for _, name := range Names() {
		text, where := Source(name)
		p, err := load.Parse(where, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.Name != name || p.Source == "" {
			t.Errorf("%s: its name is %q, its source %q", where, p.Name, p.Source)
		}
		if s, ok, err := Find(name); !ok || err != nil || s.Name != name || s.NewCodec == nil || s.NewServer == nil {
			t.Errorf("%s is not found: %v", name, err)
		}
	}
}

func TestFindNothing(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, name := range []string{"", "none-such", "Upper", "../qmp", "a/b"} {
		if s, ok, err := Find(name); ok || err != nil || Exists(name) {
			t.Errorf("%q: %+v, %v", name, s.Name, err)
		}
	}
	at := filepath.Join(t.TempDir(), "own.toml")
	if _, _, err := Find(at); err == nil || !strings.Contains(err.Error(), "there is no page") {
		t.Errorf("a path that leads nowhere: %v", err)
	}
	if err := os.WriteFile(at+".toml", []byte("name = 'x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, ok, err := Find(at + ".toml"); !ok || err != nil || s.Name != at+".toml" {
		t.Errorf("%q, %v", s.Name, err)
	}
}
