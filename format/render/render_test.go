package render

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

func same(s string) string { return s }

func single(t *testing.T, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.tmpl")
	testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := Load(path)
	testkit.OK(t, err)
	return s
}

const value = `{"s":"x<y>","e":"","n":12345678901234567890,"f":1.50,"z":0,"i":5,"e3":1e3,"minus":-0,"t":true,"null":null,
"list":["b","a",3],"none":[],"o":{"k":"v<","a-b":1},"rows":[{"id":"1","n":2},{"id":"2"}],"deep":{"a":{"b":"c"}},"named":{"String":"member"}}`

func TestForJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{{.n}} {{.f}} {{.i}} {{.e3}} {{.minus}}":                                   "12345678901234567890 1.50 5 1e3 -0",
		"{{json .n}} {{json .f}} {{json .i}} {{json .e3}}":                          "12345678901234567890 1.50 5 1e3",
		"{{eq .i 5}} {{lt .z .i}} {{printf \"%03d\" .i}} {{index .list .z}}":        "true true 005 b",
		"{{gt (float .f) 1.25}} {{printf \"%.2f\" (float .i)}}":                     "true 5.00",
		"{{if .z}}yes{{else}}no{{end}} {{with .none}}x{{else}}no{{end}}":            "no no",
		"{{.o}} {{.list}} {{.none}}":                                                `{"a-b":1,"k":"v<"} ["b","a",3] []`,
		"{{printf \"%v %s\" .o .rows}}":                                             `{"a-b":1,"k":"v<"} [{"id":"1","n":2},{"id":"2"}]`,
		"{{json .s}} {{json .null}} {{json .missing}} {{json .o}}":                  `"x<y>" null null {"a-b":1,"k":"v<"}`,
		"{{.deep.a.b}} {{.missing}} {{.missing.field}} {{.null}}":                   "c <no value> <no value> <no value>",
		"{{range $k, $v := .o}}{{$k}}:{{$v}} {{end}}":                               "a-b:1 k:v< ",
		"{{range .rows}}{{.id}}{{with .n}}({{.}}){{end}}{{end}}":                    "1(2)2",
		"{{range .null}}x{{else}}none{{end}}{{range .missing}}x{{end}}":             "none",
		"{{len .list}} {{len .o}} {{index .o \"a-b\"}}":                             "3 2 1",
		"{{range $i, $e := slice .list 1}}{{$i}}{{$e}} {{end}}":                     "0a 13 ",
		"{{eq .s \"a\" \"x<y>\"}} {{eq .null \"a\"}}":                               "true false",
		"{{index .named \"String\"}}":                                               "member",
		"{{upper .s}} {{lower \"ÄB\"}} {{upper .t}} {{lower .null}}.":               "X<Y> äb TRUE .",
		"{{join \", \" .list}}|{{join \"\" .null}}|{{.list | join \"\"}}":           "b, a, 3||ba3",
		"{{range split \",\" \"a,b\"}}<{{.}}>{{end}}{{split \",\" .s | join \"\"}}": "<a><b>x<y>",
		"{{.missing | default \"-\"}}{{.e | default \"-\"}}{{.s | default \"-\"}}":  "--x<y>",
		"{{trim \" a \"}} {{quote \"it's\"}} {{quote .i}} {{quote .null}}":          `a 'it'\''s' '5' ''`,
	} {
		got, err := single(t, text).Execute(t.Context(), []byte(">"), "any/type", []byte(value), same)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if string(got) != ">"+want {
			t.Errorf("%s\n got %q\nwant %q", text, got[1:], want)
		}
	}
}

func TestFailures(t *testing.T) {
	for text, says := range map[string]string{
		"{{.s.x}}":              "can't evaluate field x",
		"{{.null.x}}":           "nil pointer",
		"{{index .list 9}}":     "out of range",
		"{{template \"nope\"}}": "not defined",
		"{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}": "depth",
		"{{join \"\" .i}}": "join takes",
		"{{float .s}}":     "invalid syntax",
	} {
		out, err := single(t, text).Execute(t.Context(), []byte(">"), "", []byte(value), same)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "t.tmpl:1:") || string(out) != ">" {
			t.Errorf("%s: %q, %v; want %q", text, out, err, says)
		}
	}
	if _, err := single(t, "x").Execute(t.Context(), nil, "", []byte("{} 1"), same); err == nil {
		t.Error("two values are accepted as one")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no file name ends in .tmpl") {
		t.Errorf("an empty directory: %v", err)
	}
	for name, text := range map[string]string{"a_b.tmpl": "{{template \"part.tmpl\" .}}!", "part.tmpl": "<{{.}}>", ".tmpl": "{{", ".hidden.tmpl": "{{", "notes.txt": "{{", `b\c.tmpl`: "x"} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "folder.tmpl"), 0o700))
	s, err := Load(dir)
	testkit.OK(t, err)
	for contentType, want := range map[string]bool{
		"a/b": true, "a_b": true, "part": true, "": false, "../a_b": false, "c": false, "default": false,
		".hidden": false, "folder": false, `b\c`: false, "a_b\x00": false, "a_b.tmpl": false,
	} {
		if s.Has(contentType) != want {
			t.Errorf("Has(%q) is %v", contentType, !want)
		}
	}
	if _, err := s.Execute(t.Context(), nil, "c", []byte("1"), same); err == nil {
		t.Error("Execute succeeded without a template")
	}
	if got, err := s.Execute(t.Context(), nil, "a/b", []byte("1"), same); err != nil || string(got) != "<1>!" {
		t.Errorf("%q, %v", got, err)
	}
	for text, says := range map[string]string{"{{if}}": "missing value for if", "{{nope 1}}": `function "nope" not defined`, "{{": "t.tmpl:1"} {
		path := filepath.Join(t.TempDir(), "t.tmpl")
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if _, err := Load(filepath.Join(dir, "nope")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestCleaned(t *testing.T) {
	clean := func(s string) string { return strings.ReplaceAll(s, "!", "?") }
	got, err := single(t, "{{json .}}!").Execute(t.Context(), nil, "", []byte(`{"a!":["b!",{"c":"d!"}],"n":1}`), clean)
	if want := `{"a?":["b?",{"c":"d?"}],"n":1}!`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

func TestLongLoops(t *testing.T) {
	s := single(t, "{{range .}}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{end}}")
	if _, err := s.Execute(t.Context(), nil, "", []byte("1000000000000"), same); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for text, count := range map[string]string{"{{range .}}x{{end}}": "1000000000000", "{{range .}}{{end}}": "5000000"} {
		if _, err := single(t, text).Execute(ctx, nil, "", []byte(count), same); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A template renders or rejects any value without a panic, and the function json returns the value.
func FuzzExecute(f *testing.F) {
	for _, val := range []string{value, `1e999`, `[[-0,"\ud800"]]`, `{"a":1,"a":null}`, `{} 1`, `"`, ""} {
		f.Add(val)
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "t.tmpl")
	testkit.OK(f, os.WriteFile(path, []byte("{{json .}}"), 0o600))
	s, err := Load(path)
	testkit.OK(f, err)
	f.Fuzz(func(t *testing.T, val string) {
		out, err := s.Execute(t.Context(), nil, "", []byte(val), same)
		if err != nil {
			return
		}
		again, err := s.Execute(t.Context(), nil, "", out, same)
		if err != nil || !bytes.Equal(out, again) {
			t.Errorf("%s, then %s, %v", out, again, err)
		}
	})
}

// FuzzContentType checks that a peer's content type can select only templates in the directory.
func FuzzContentType(f *testing.F) {
	dir := f.TempDir()
	for name, text := range map[string]string{"text_plain.tmpl": "plain", "a.tmpl": "a", "default.tmpl": "other", "..tmpl": "hidden"} {
		testkit.OK(f, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s, err := Load(dir)
	testkit.OK(f, err)
	for _, name := range []string{"text/plain", "text_plain", "a", "", ".", "../a", "/", "a\x00", "\\a", "a.tmpl", "text/plain; charset=utf-8"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		out, err := s.Execute(t.Context(), nil, name, []byte("1"), same)
		want := "other"
		switch name {
		case "text/plain", "text_plain":
			want = "plain"
		case "a":
			want = "a"
		}
		if err != nil || string(out) != want {
			t.Errorf("%q is rendered as %q, %v", name, out, err)
		}
	})
}
