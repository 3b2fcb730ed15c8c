package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"
	"time"
)

func same(s string) string { return s }

// single is a Set of one template.
func single(t *testing.T, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.tmpl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const value = `{"s":"x<y>","e":"","n":12345678901234567890,"f":1.50,"z":0,"t":true,"no":false,"null":null,
"list":["b","a",3],"none":[],"o":{"k":"v","a-b":1},"rows":[{"id":"1","n":2},{"id":"2"}],"deep":{"a":{"b":"c"}}}`

// What text/template says of these is what we say.
var alike = []string{
	"plain", "{{.s}}", "{{ .deep.a.b }}", "{{.missing}}|{{.null}}", "{{.t}} {{.no}}", "a {{- /* note */ -}} b",
	"{{if .s}}yes{{else}}no{{end}}", "{{if .e}}yes{{else if .t}}else{{else}}no{{end}}", "{{if .none}}x{{end}}{{if .o}}o{{end}}{{if .null}}x{{end}}",
	"{{with .deep}}{{.a.b}}{{$.s}}{{end}}", "{{with .e}}x{{else with .s}}{{.}}{{end}}", "{{with $x := .s}}{{$x}}{{end}}",
	"{{range .list}}<{{.}}>{{end}}", "{{range $i, $e := .list}}{{$i}}={{$e}} {{end}}", "{{range $e := .list}}{{$e}}{{end}}",
	"{{range .none}}x{{else}}empty{{end}}", "{{range .missing}}x{{else}}nothing{{end}}", "{{range $k, $v := .o}}{{$k}}:{{$v}} {{end}}",
	"{{range .rows}}{{.id}}{{with .n}}({{.}}){{end}}{{end}}", "{{range .list}}{{if eq . \"a\"}}{{continue}}{{end}}{{.}}{{end}}",
	"{{range $i, $e := .list}}{{if $i}}{{break}}{{end}}{{$e}}{{end}}", "{{range 3}}{{.}}{{end}}", "{{range $i := 2}}{{$i}}{{end}}",
	"{{$x := 1}}{{if .t}}{{$x = 2}}{{end}}{{$x}}", "{{$x := 1}}{{if .t}}{{$x := 2}}{{end}}{{$x}}", "{{$a := .s}}{{range .list}}{{$a = .}}{{end}}{{$a}}",
	"{{define \"row\"}}[{{.}}{{$}}]{{end}}{{template \"row\" .s}}{{range .list}}{{template \"row\" .}}{{end}}", "{{block \"b\" .deep}}{{.a.b}}{{end}}",
	"{{len .list}} {{len .s}} {{len .o}}", "{{index .list 1}} {{index .o \"a-b\"}} {{index .rows 0 \"id\"}}", "{{index .o \"nope\"}}",
	"{{slice .s 1 3}}", "{{slice .s 2}}", "{{eq .s \"x<y>\"}} {{ne .s \"a\"}}", "{{eq .s \"a\" \"b\" \"x<y>\"}}", "{{lt .e .s}} {{ge .s .s}} {{gt .e .s}} {{le .e .s}}",
	"{{eq 1 1}} {{lt 1 2}} {{eq 1.5 1.5}} {{ne 1 2}}", "{{and .s .e}}|{{or .e .s}}|{{not .t}}|{{and .t .no (index .list 99)}}|{{or .t (index .list 99)}}",
	"{{printf \"%s %q %v\" .s .s .t}}", "{{printf \"%5d|%-5d|%05.1f|%x\" 42 42 1.25 255}}", "{{print 1 2 \"a\" 3}}", "{{println \"a\" 1}}", "{{print .s .t}}",
	"{{.s | printf \"%s-%s\" \"a\"}}", "{{.s | html}}", "{{.s | urlquery}}", "{{html \"a\" \"&\" 1}}", "{{js \"it's <b>\"}}", "{{(index .rows 1).id}}", "{{`raw` | len}}",
	"{{0x10}} {{1e3}} {{'a'}} {{-5}} {{1_000}}", "{{true}}{{false}}", "{{\"a\\tb\"}}", "{{1.5}}",
}

func TestAsTextTemplate(t *testing.T) {
	var v any
	dec := json.NewDecoder(strings.NewReader(value))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	for _, text := range alike {
		std, err := template.New("t.tmpl").Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := std.Execute(&want, v); err != nil {
			t.Errorf("%s: text/template: %v", text, err)
			continue
		}
		got, err := single(t, text).Execute(t.Context(), nil, "", []byte(value), same)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if string(got) != want.String() {
			t.Errorf("%s\n got %q\nwant %q", text, got, want.String())
		}
	}
}

// Where JSON is better served otherwise, and what is ours.
func TestForJSON(t *testing.T) {
	for text, want := range map[string]string{
		"{{.n}} {{.f}}":                                         "12345678901234567890 1.50",
		"{{.o}} {{.list}}":                                      `{"a-b":1,"k":"v"} ["b","a",3]`,
		"{{json .s}} {{json .null}} {{json .n}}":                `"x<y>" null 12345678901234567890`,
		"{{.missing.field}}":                                    "<no value>",
		"{{if .z}}yes{{else}}no{{end}}":                         "no",
		"{{eq .f 1.5}} {{eq .z 0}} {{lt .z .f}}":                "true true true",
		"{{gt .n 12345678901234567889}}":                        "true",
		"{{printf \"%d %.2f %6.1f %s\" .z .f .n .n}}":           "0 1.50 12345678901234567168.0 12345678901234567890",
		"{{printf \"%d\" .n}}":                                  "12345678901234567890",
		"{{printf \"%v %v\" .o .null}}":                         `{"a-b":1,"k":"v"} <nil>`,
		"{{index .list 2 | printf \"%03d\"}}":                   "003",
		"{{len .null}}":                                         "0",
		"{{upper .s}} {{lower \"ÄB\"}}":                         "X<Y> äb",
		"{{join \", \" .list}}|{{join \"\" .null}}":             "b, a, 3|",
		"{{range split \",\" \"a,b\"}}<{{.}}>{{end}}":           "<a><b>",
		"{{.missing | default \"-\"}}{{.s | default \"-\"}}":    "-x<y>",
		"{{trim \" a \"}}":                                      "a",
		"{{quote \"it's\"}}":                                    `'it'\''s'`,
		"{{range $i, $e := slice .list 1}}{{$i}}{{$e}} {{end}}": "0a 13 ",
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
		"{{.s.x}}":              "no field x in a string",
		"{{index .list 9}}":     "out of range",
		"{{index .list \"a\"}}": "a number is wanted",
		"{{index .o 1}}":        "the key of an object is a string",
		"{{index .s 1}}":        "cannot index a string",
		"{{slice .s 3 1}}":      "out of range",
		"{{lt .s 1}}":           "cannot compare",
		"{{len .t}}":            "no length",
		"{{range .t}}{{end}}":   "cannot range over a boolean",
		"{{range .f}}{{end}}":   "no index",
		"{{.s 1}}":              "takes no arguments",
		"{{1 | .s}}":            "takes no arguments",
		"{{not}}":               "number of arguments",
		"{{template \"nope\"}}": "not defined",
		"{{define \"a\"}}{{template \"a\"}}{{end}}{{template \"a\"}}": "too deeply",
		"{{printf .z}}": "the format is a string",
		"{{join 1 2}}":  "join takes",
		"{{1i}}":        "not a number of JSON",
	} {
		out, err := single(t, text).Execute(t.Context(), nil, "", []byte(value), same)
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "t.tmpl: ") {
			t.Errorf("%s: %q, %v; want %q", text, out, err, says)
		}
	}
	if _, err := single(t, "x").Execute(t.Context(), nil, "", []byte("{} 1"), same); err == nil {
		t.Error("two values are taken for one")
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no file ends in .tmpl") {
		t.Errorf("of an empty directory: %v", err)
	}
	for name, text := range map[string]string{"a_b.tmpl": "{{template \"part.tmpl\" .}}!", "part.tmpl": "<{{.}}>", ".tmpl": "{{", "notes.txt": "{{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for contentType, want := range map[string]bool{"a/b": true, "a_b": true, "part": true, "": false, "../a_b": false, "c": false, "default": false} {
		if s.Has(contentType) != want {
			t.Errorf("Has(%q) is %v", contentType, !want)
		}
	}
	if got, err := s.Execute(t.Context(), nil, "a/b", []byte("1"), same); err != nil || string(got) != "<1>!" {
		t.Errorf("%q, %v", got, err)
	}
	for text, says := range map[string]string{"{{if}}": "missing value for if", "{{nope 1}}": `function "nope" not defined`, "{{call 1}}": `"call"`, "{{": "t.tmpl:1"} {
		path := filepath.Join(t.TempDir(), "t.tmpl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if _, err := Load(filepath.Join(dir, "nope")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("of no file: %v", err)
	}
}

func TestCleaned(t *testing.T) {
	clean := func(s string) string { return strings.ReplaceAll(s, "!", "?") }
	got, err := single(t, "{{json .}}!").Execute(t.Context(), nil, "", []byte(`{"a!":["b!",{"c":"d!"}],"n":1}`), clean)
	if want := `{"a?":["b?",{"c":"d?"}],"n":1}!`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// A number of the peer's may be the length of a loop.
func TestLongLoops(t *testing.T) {
	s := single(t, "{{range .}}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{end}}")
	if _, err := s.Execute(t.Context(), nil, "", []byte("1000000000000"), same); err == nil || !strings.Contains(err.Error(), "a loop prints more than") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := single(t, "{{range .}}{{end}}").Execute(ctx, nil, "", []byte("1000000000000"), same); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Linking text/template would keep every method in the binary.
func TestNoTextTemplate(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skip("no go command: ", err)
	}
	for dep := range strings.FieldsSeq(string(out)) {
		if dep == "text/template" || dep == "html/template" {
			t.Errorf("%s is linked", dep)
		}
	}
}

// Whatever parses runs to an end without a panic, over any value.
func FuzzExecute(f *testing.F) {
	for _, text := range alike {
		f.Add(text, value)
	}
	f.Fuzz(func(t *testing.T, text, val string) {
		s := &Set{trees: map[string]*parse.Tree{}, single: "t"}
		if s.parse("t", text) != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // counting is allowed, and slow
		defer cancel()
		_, _ = s.Execute(ctx, nil, "", []byte(val), same)
	})
}
