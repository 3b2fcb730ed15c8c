package load

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// An error shows the line, the member, the expected value and the nearest name.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"name = 'x'\nbaes = 'none'":                               "p.toml:2: baes: a dialect file has no member \"baes\" (did you mean base?)",
		"name = 'x'\n[names.request]\nmetod = 'm'":                "p.toml:3: names.request.metod: names.request has no member \"metod\" (did you mean method?)",
		"name = 'x'\n[[greet]]\ncall = 1":                         "p.toml:3: greet[0].call: expected a string",
		"name = 'x'\n[[greet]]\ncall = 'a'\nkeep = {a = 1}":       "p.toml:4: greet[0].keep.a: expected a program",
		"name = 'x'\n[greet]\ncall = 'a'":                         "p.toml:2: greet: expected an array of tables",
		"name = 'x'\n[[greet]]\ncall = 'a'\nnotify = 'b'":         "p.toml:2: greet[0]: expected exactly one of \"call\", \"notify\" and \"await\"",
		"name = 'x'\n\nbase = 'jsonrcp'":                          "p.toml:3: base: expected one of jsonrpc, jsonrpc1, none, not \"jsonrcp\"; did you mean jsonrpc?",
		"name = 'x'\nsubprotocols = ['a', 1]":                     "p.toml:2: subprotocols: expected a string or an array of strings",
		"name = 'X y'":                                            "p.toml:1: name: \"X y\" is not a valid dialect name",
		"base = 'jsonrpc'":                                        "p.toml:1: name: \"\" is not a valid dialect name",
		"name = 'x'\nbase = 'none'":                               `p.toml:2: base: base = "none" needs`,
		"name = 'x'\n[call]\nparams = '{a: $parms}'":              "p.toml:3: call.params: jq: ",
		"name = 'x'\n[[describe]]\ncall = 'a'\nmethods = '.[] |'": "p.toml:4: describe[0].methods: jq: ",
		"name = 'x'\n[[describe]]\ncall = 'a'":                    "p.toml:2: describe[0]: expected \"methods\"",
		"name = 'x'\n[cancel]\nparams = '.'":                      "p.toml:2: cancel: expected exactly one of \"notify\" and \"call\"",
		"name = 'x'\n[call]\nparams = 'include \"x\"; .'":         "p.toml:3: call.params: jq: ",
		"name = 'x'\nbase.x = 1":                                  "p.toml:2: base: expected a string",
		"name = ":                                                 "p.toml:1: ",
	} {
		_, err := Parse("p.toml", []byte(text))
		if f := wire.AsFault(err); f != nil && f.Hint != "" {
			err = wire.Usagef("%s (%s)", f.Message, f.Hint)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage {
			t.Errorf("%q: %v is not a usage fault", text, err)
		}
	}
}

func TestFileOfOthers(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x.toml")
	testkit.OK(t, os.WriteFile(at, []byte("name = 'x'\n"), 0o600))
	if p, err := File(at); err != nil || p.Name != "x" || p.Base != "jsonrpc" {
		t.Errorf("%+v, %v", p, err)
	}
	testkit.OK(t, os.Chmod(at, 0o622))
	if _, err := File(at); err == nil || !strings.Contains(err.Error(), "other users can write to it") {
		t.Errorf("not refused: %v", err)
	}
}

// Each member has a description for the manual.
func TestTable(t *testing.T) {
	for _, m := range Table() {
		if m.Says == "" || m.Kind == "" || strings.HasSuffix(m.Path, ".") {
			t.Errorf("%+v", m)
		}
	}
}

// FuzzParse checks that a dialect file is valid or a usage error, and that the manual describes its members.
func FuzzParse(f *testing.F) {
	pages, err := filepath.Glob("../pages/*.toml")
	if err != nil || len(pages) == 0 {
		f.Fatal(pages, err)
	}
	for _, page := range append(pages, "../../mcp/mcp.toml") {
		b, err := os.ReadFile(page)
		testkit.OK(f, err)
		f.Add(b)
	}
	for _, text := range []string{
		"name = 'x'", "name = 'x'\n[[greet]]\ncall = 'a'\nkeep = {a = '.b'}", "name = 'x'\nbase = 'none'\n[[read]]\nwhen = '.a'\nkind = 'notification'",
		"name = 'x'\n[call]\nparams = '{a: $params}'", "[a", "name = 1", "a.b.c = [{d = 1}]", "[[a]]\n[a.b]\n[[a.b.c]]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("p.toml", text)
		if err != nil {
			if fault := wire.AsFault(err); fault == nil || fault.Kind != wire.Usage || fault.Message == "" {
				t.Fatalf("%v is not a usage fault", err)
			}
			return
		}
		if !IsName(p.Name) {
			t.Fatalf("a dialect file has the name %q", p.Name)
		}
	})
}

// A dialect file has at most one mebibyte.
func TestFileOfAnySize(t *testing.T) {
	at := filepath.Join(t.TempDir(), "x.toml")
	for size, fits := range map[int]bool{11: true, maxSize: true, maxSize + 1: false} {
		text := "name = 'x'\n" + strings.Repeat("#", size-11)
		testkit.OK(t, os.WriteFile(at, []byte(text), 0o600))
		if _, err := File(at); (err == nil) != fits || !fits && !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if _, err := File(filepath.Dir(at)); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
	loop := at + ".loop"
	if err := os.Symlink(loop, loop); err != nil {
		t.Skip(err)
	}
	if _, err := File(loop); err == nil || !strings.Contains(err.Error(), "too many links") {
		t.Errorf("a link to itself: %v", err)
	}
}
