package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/testkit"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a=b", "a=jq:.", "*=deny", "a=json:1", "=", "a=x:y", "a=inbox"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		e, err := Parse(spec)
		if err != nil {
			if fault := wire.AsFault(err); fault == nil || fault.Kind != wire.Usage || fault.Message == "" {
				t.Fatalf("%q: %#v", spec, err)
			}
			return
		}
		park := func(context.Context, dialect.Request) (json.RawMessage, error) { return nil, nil }
		table, err := NewTable(Options{Park: park}, e)
		testkit.OK(t, err)
		if !table.Match(e.Pattern) {
			t.Fatalf("%q does not match itself", e.Pattern)
		}
	})
}

func TestPatterns(t *testing.T) {
	var entries []Entry
	for _, s := range []string{"*=json:0", "get*=json:1", "get*er=json:2", "getOrder=json:3", "*Order=json:4", "g.t*=json:5", "getOrder=json:6", "a*b*c=json:7", "über*=json:8", "ab*ba=json:9"} {
		e, err := Parse(s)
		testkit.OK(t, err)
		entries = append(entries, e)
	}
	table, err := NewTable(Options{}, entries...)
	testkit.OK(t, err)
	b := table.Bind(Binding{})
	defer b.Close()
	w := &world{t: t, ConnectionHooks: b}
	for name, want := range map[string]string{
		"getOrder": "3", "getUser": "2", "getX": "1", "listOrder": "4", "goto": "0", "got": "0", "g.tx": "5", "gxtx": "0",
		"abc": "7", "a-b-c": "7", "acb": "0", "": "0", "a\nb\nc": "7", "überall": "8", "aba": "0", "GetOrder": "4",
	} {
		testkit.Expect(t, name, w.call(name, ""), want)
	}
	testkit.Expect(t, "Names", strings.Join(table.Names(), " "), "getOrder")
	only, _ := NewTable(Options{}, entries[3])
	if only.Match("getorder") || only.Match("getOrder ") || !only.Match("getOrder") {
		t.Error("an exact name matches another")
	}
	testkit.Expect(t, "equal patterns", order(t, "a*=json:1", "*a=json:2"), "1")
	testkit.Expect(t, "equal patterns", order(t, "*a=json:2", "a*=json:1"), "2")
}

func order(t *testing.T, specs ...string) string {
	w := newWorld(t, Options{}, Binding{}, specs...)
	return w.call("a", "")
}

func TestFromDir(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's; $(here)")
	put := func(name, content string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		testkit.OK(t, os.WriteFile(path, []byte(content), 0o600))
		testkit.OK(t, os.Chmod(path, mode))
	}
	testkit.OK(t, os.Mkdir(dir, 0o755))
	if _, _, err := FromDir(dir); err == nil {
		t.Error("an empty folder is not a mistake")
	}
	put("getOrder", "#!/bin/sh\nprintf '{\"got\":%s}' \"$(cat)\"\n", 0o755)
	put("watch*", "#!/bin/sh\necho 1\n", 0o700)
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "lib"), 0o755))
	entries, _, err := FromDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Pattern != "getOrder" || entries[1].Pattern != "watch*" {
		t.Fatalf("%+v, %v", entries, err)
	}
	table, err := NewTable(Options{}, entries...)
	testkit.OK(t, err)
	w := &world{t: t, ConnectionHooks: table.Bind(Binding{})}
	defer w.Close()
	testkit.Expect(t, "a file's answer", w.call("getOrder", `[1]`), `{"got":[1]}`)

	testkit.OK(t, os.Chmod(dir, 0o777))
	_, _, err = FromDir(dir)
	refused(t, err, "other users can write to it")
	_, _, err = FromDir(filepath.Join(dir, "none"))
	refused(t, err, "no such file")
}

func refused(t *testing.T, err error, why string) {
	t.Helper()
	if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, why) {
		t.Errorf("got %v, want a usage fault with %q", err, why)
	}
}

func TestFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hooks.json")
	put := func(content string, mode os.FileMode) {
		t.Helper()
		testkit.OK(t, os.WriteFile(path, []byte(content), 0o600))
		testkit.OK(t, os.Chmod(path, mode))
	}
	put(`{"catalog":1,"info":{},"methods":[{"name":"a","run":"json:1"},{"name":"b"},{"name":"c","run":"jq:.x"}]}`, 0o644)
	entries, c, err := FromFile(path)
	if err != nil || len(entries) != 2 || entries[1].Pattern != "c" || entries[1].Answer.Kind != JQ || len(c.Methods) != 3 {
		t.Fatalf("%+v, %v", entries, err)
	}
	put(`{"catalog":1,"info":{},"methods":[{"name":"a","run":"jq:{"}]}`, 0o644)
	_, _, err = FromFile(path)
	refused(t, err, "method a: jq: unexpected EOF")
	put(`no catalog`, 0o644)
	_, _, err = FromFile(path)
	refused(t, err, "hooks.json")
}
