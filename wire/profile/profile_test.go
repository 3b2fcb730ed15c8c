package profile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// config writes config.toml in the default place.
func config(t *testing.T, text string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	dir := filepath.Join(home, "rpcx")
	testkit.OK(t, os.Mkdir(dir, 0o700))
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600))
	return dir
}

func TestFind(t *testing.T) {
	dir := config(t, `
[profile.work]
endpoint = "ws://${HOST}/$${x}"
header = "@secrets"
hooks = ["hooks.d", "/etc/hooks"]
timeout = 1.5
ping = 12
insecure = true
[profile]
short = { endpoint = "demo:" }
`)
	t.Setenv("HOST", "h$1")
	p, err := Find("work")
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	testkit.Expect(t, "endpoint", p.Endpoint.Values[0], "ws://h$1/${x}")
	for key, want := range map[string]string{
		"header": "@" + dir + "/secrets", "hooks": dir + "/hooks.d /etc/hooks", "timeout": "1.5", "ping": "12", "insecure": "true",
	} {
		if s := p.Setting(key); s == nil || strings.Join(s.Values, " ") != want {
			t.Errorf("%s: %v, want %s", key, s, want)
		}
	}
	if p.Setting("idle") != nil {
		t.Error("idle was not set")
	}
	if names, err := Names(); err != nil || !slices.Equal(names, []string{"short", "work"}) {
		t.Error(names, err)
	}
	if p, err := Find("nobody"); p != nil || err != nil {
		t.Error(p, err)
	}
}

func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"profile = 1":                                 "profile is not a table",
		"[profile]\na = 1":                            "profile.a is not a table",
		"[[profile.a]]\nendpoint = 'x'":               "profile.a is not a table",
		"[profile.a]\nendpoint = 'x'\nendpoint = 'y'": ":3: ",
		"[profile.a]\nendpoint = ['x']":               ":2: profile.a.endpoint takes one value",
		"[profile.a]\nendpoint = true":                ":2: profile.a.endpoint: it must be a string",
		"[profile.a]\nendpoint = 'x'\nheader = [1]":   ":3: profile.a.header: it must be a string",
		"[profile.a]\nendpoint = 'x'\nheader.a = 'b'": "profile.a.header: it must be a string",
		"[profile.a]\nendpoint = 'x ${A B}'":          ":2: profile.a.endpoint: write ${NAME}",
		"[profile.a]\nendpoint = 'x ${A'":             ":2: profile.a.endpoint: write ${NAME}",
		"[profiles.a]\nendpoint = 'x'":                ":1: profiles: unknown key; did you mean profile?",
		"[profile.a]\n[profile.a.tls]\nca = 'x'":      ":2: profile.a.tls: unknown key",
	} {
		config(t, text)
		_, err := Find("a")
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message+"; "+f.Hint, want) || !strings.Contains(f.Message, "config.toml") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Defaults reports a file that it cannot use only if RPCX_CONFIG names it.
func TestUnusableDefaults(t *testing.T) {
	dir := config(t, "default = 1 # [default]")
	if _, err := Defaults(); err == nil || !strings.Contains(err.Error(), "default is not a table: write [default]") {
		t.Error(err)
	}
	missing := filepath.Join(dir, "none")
	t.Setenv(PathVariable, missing)
	for what, f := range map[string]func() (*Profile, error){"defaults": Defaults, "a profile": func() (*Profile, error) { return Find("a") }} {
		if p, err := f(); p != nil || wire.AsFault(err) == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: %v, %v", what, p, err)
		}
	}
	if err := trusted(missing); wire.AsFault(err) == nil {
		t.Error("a missing file is trusted")
	}
	t.Setenv(PathVariable, "")
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config.toml"))
	if p, err := Defaults(); p != nil || err != nil {
		t.Error(p, err)
	}
}

// Names of variables can have these characters.
func TestVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "z": true, "A": true, "Z": true, "_": true, "a0": true, "a9": true, "_1a": true,
		"": false, "0": false, "9a": false, "a/": false, "a:": false, "@": false, "[": false, "`": false, "{": false, "é": false, "a b": false,
	} {
		testkit.Expect(t, name, wire.IsName(name), want)
	}
}

func TestAnErrorInOneProfileDoesNotAffectOthers(t *testing.T) {
	config(t, `
profiles = 1
[profile]
b = 1
[profile.a]
endpoint = "demo:"
[profile.c]
endpont = "${RPCX_TEST_UNSET}"
`)
	if p, err := Find("a"); err != nil || p == nil {
		t.Error(p, err)
	}
	if names, err := Names(); err != nil || !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Error(names, err)
	}
	for _, name := range []string{"b", "c", "d"} { // d could be a misspelt profile
		if _, err := Find(name); err == nil {
			t.Errorf("%s is not a mistake", name)
		}
	}
}

func TestOnlyFilesAreRead(t *testing.T) {
	dir := config(t, "")
	path := filepath.Join(dir, "config.toml")
	testkit.OK(t, os.Remove(path))
	testkit.OK(t, os.Mkdir(path, 0o700))
	if _, err := Find("a"); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
}

func TestTheManualNamesEachKey(t *testing.T) {
	b, err := os.ReadFile("../../commands/help/topics/config.5.txt")
	testkit.OK(t, err)
	words := strings.FieldsFunc(string(b), func(r rune) bool { return strings.ContainsRune(" ,.\n", r) })
	for _, key := range Keys() {
		if !slices.Contains(words, key) {
			t.Errorf("the manual does not name %s", key)
		}
	}
}

// FuzzFile checks that any config.toml is accepted or rejected with a usage error.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"[profile.a]\nendpoint = 'x ${HOME}'\nheader = ['a: b', '@f']\ntimeout = 1.5\ninsecure = true", "[default]\ntimeout = '5s'",
		"[profile.a]\nendpoint = '$${x'", "profile = 1", "[profile]\na = 1", "[[profile.a]]\nendpoint = 'x'", "[profile.a.tls]\nca = 'x'",
		"[profile.a]\nendpoint = ['x']", "x = 1", "[profile.\"a\\nb\"]\nendpoint = 'x'", "default = 2026-01-01",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		at := &file{path: "/config/rpcx/config.toml"}
		err := at.parse(text)
		for name := range at.profiles {
			if err == nil {
				_, err = at.profile(name)
			}
		}
		if fault := wire.AsFault(err); err != nil && (fault == nil || fault.Kind != wire.Usage) {
			t.Fatalf("%v is not a usage fault", err)
		}
	})
}
