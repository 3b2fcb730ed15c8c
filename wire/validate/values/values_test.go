package values

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/schema"
	"rpcx/wire/testkit"
	"rpcx/wire/validate"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		testkit.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// checked returns the result for each value as a line.
func checked(t *testing.T, c *schema.Schema, text string) string {
	t.Helper()
	var b strings.Builder
	err := Check(t.Context(), c, "-", strings.NewReader(text), func(line int, problems []validate.Problem, _ string) error {
		fmt.Fprintf(&b, "%d", line)
		if len(problems) == 0 {
			b.WriteString(" ok")
		}
		for _, f := range problems {
			fmt.Fprintf(&b, " %s %s", f.Pointer, f.Message)
		}
		b.WriteByte('\n')
		return nil
	})
	testkit.OK(t, err)
	return b.String()
}

func TestValuesInAFile(t *testing.T) {
	dir := folder(t, map[string]string{"s.json": `{"type":"object"}`})
	c, err := Open(filepath.Join(dir, "s.json"), schema.FileOptions{})
	testkit.OK(t, err)
	const object = " got number, want object"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \n{}\n\n", "3 ok\n"},
		{"NDJSON", "{}\n{}\n1\n{}", "1 ok\n2 ok\n3 " + object + "\n4 ok\n"},
		{"several on a line", "{} {}{}\n", "1 ok\n1 ok\n1 ok\n"},
		{"over many lines", "{\n  \"a\": 1\n}\n{\n}\n", "1 ok\n4 ok\n"},
		{"a number at the end", "{}\n1", "1 ok\n2 " + object + "\n"},
		{"a bad line", "{}\n{\"a\":}\n{}\n", "1 ok\n2  is not JSON: expected a JSON value\n3 ok\n"},
		{"a line that is cut off", "{\"a\":1\n{\"b\":2}\n{}\n", "1  is not JSON: the value does not end on this line\n2 ok\n3 ok\n"},
		{"a line that is cut off before a value", "{\"a\":\n{\"b\":2}\n{}\n", "1  is not JSON: the value does not end on this line\n2 ok\n3 ok\n"},
		{"garbage", "garbage\n{}\n", "1  is not JSON: expected a JSON value\n2 ok\n"},
		{"much garbage", "garbage\nand more\n{}\n", "1  is not JSON: expected a JSON value\n2  is not JSON: expected a JSON value\n3 ok\n"},
		{"garbage that goes on", "garbage\n  and more\n] }\nmore\n{}\n", "1  is not JSON: expected a JSON value\n5 ok\n"},
		{"cut off at the end", "{}\n{\"a\"", "1 ok\n2  is not JSON: it is cut off\n"},
		{"broken over many lines", "{\n  \"a\": 1,,\n  \"b\": 2\n}\n{}\n", "1  is not JSON: expected a key in double quotes, on line 2\n5 ok\n"},
		{"broken on its second line", "{\n  \"a\": 1,,\nthe rest\n{}\n", "1  is not JSON: expected a key in double quotes, on line 2\n4 ok\n"},
		{"broken on its first line", "{\"a\"::1,\n  \"b\": 2\n}\n{}\n", "1  is not JSON: expected a JSON value\n4 ok\n"},
		{"CRLF", "{}\r\n{}\r\n", "1 ok\n2 ok\n"},
	} {
		if got := checked(t, c, test.text); got != test.want {
			t.Errorf("%s: got\n%swant\n%s", test.name, got, test.want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := folder(t, map[string]string{
		"a#b.json":   `{"type":"integer"}`,
		"defs.json":  `{"$defs":{"n":{"$ref":"sub/n.json"}}}`,
		"sub/n.json": `{"type":"integer"}`,
		"up.json":    `{"$ref":"../outside.json"}`,
		"catalog.json": `{"catalog":1,"methods":[{"name":"x.y","params":{"$ref":"#/$defs/p"},"result":{"type":"integer"}}],
			"$defs":{"p":{"type":"object","required":["id"]}}}`,
		"openrpc.json": `{"openrpc":"1.2.6","methods":[{"name":"add","params":[{"name":"a","required":true,"schema":{"type":"integer"}},{"$ref":"#/components/contentDescriptors/B"}],
			"result":{"name":"sum","schema":{"type":"integer"}}}],"components":{"contentDescriptors":{"B":{"name":"b","schema":{"type":"string"}}}}}`,
	})
	testkit.OK(t, os.Symlink("/etc/hostname", filepath.Join(dir, "link.json")))
	for _, c := range []struct{ source, good, bad, err string }{
		{"a#b.json", "1", `""`, ""},
		{"defs.json#/$defs/n", "1", `""`, ""},
		{"catalog.json#x.y.params", `{"id":1}`, `{}`, ""},
		{"catalog.json#x.y.result", `1`, `{}`, ""},
		{"openrpc.json#add.params", `{"a":1}`, `{"a":"x"}`, ""},
		{"openrpc.json#add.params", `{"a":1,"b":"x"}`, `{"a":1,"b":1}`, ""},
		{"openrpc.json#add.params", `[1,"x"]`, `[1,2]`, ""},
		{"openrpc.json#add.params", `[1]`, `[]`, ""},
		{"openrpc.json#add.result", `1`, `{}`, ""},
		{"gone.json", "", "", "no such file or directory"},
		{"gone.json#x.y.params", "", "", "no such file or directory"},
		{"gone/gone.json#x.y.params", "", "", "no such file or directory"},
		{"sub#x.y.params", "", "", "is a directory"},
		{"catalog.json#x.z.params", "", "", "it has no method x.z; did you mean x.y?"},
		{"catalog.json#unlike.params", "", "", "it has no method unlike"},
		{"catalog.json#x.y.foo", "", "", `"x.y.foo" is neither a /pointer nor METHOD.params nor METHOD.result`},
		{"defs.json#a.params", "", "", "it has no methods: name a part of it with a /pointer"},
		{"defs.json#/nothing", "", "", "nothing found at /nothing"},
		{"up.json", "", "", "$ref to rpcx:///outside.json: it is outside the schema's directory, and rpcx does not fetch schemas"},
		{"link.json", "", "", "path escapes from parent"},
	} {
		checker, err := Open(filepath.Join(dir, c.source), schema.FileOptions{})
		if c.err != "" {
			f := wire.AsFault(err)
			if f == nil || f.Kind != wire.Usage || !strings.HasPrefix(f.Message, "--schema ") || !strings.HasSuffix(f.Message, ": "+c.err) {
				t.Errorf("%s: got %v, want %s", c.source, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if got := checked(t, checker, c.good); got != "1 ok\n" {
			t.Errorf("%s: %s: %s", c.source, c.good, got)
		}
		if got := checked(t, checker, c.bad); strings.Contains(got, "ok") {
			t.Errorf("%s: %s fits", c.source, c.bad)
		}
	}
}

// Reading any input ends, and keeps track of its place.
func FuzzCheck(f *testing.F) {
	f.Add("{}\n{\"a\":\n1}\n[1,2\n{}\nx\n")
	dir := f.TempDir()
	file := filepath.Join(dir, "s.json")
	testkit.OK(f, os.WriteFile(file, []byte("{}"), 0o644))
	c, err := Open(file, schema.FileOptions{})
	testkit.OK(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		_ = Check(t.Context(), c, "-", strings.NewReader(text), func(line int, _ []validate.Problem, _ string) error {
			if line < last || line > 1+strings.Count(text, "\n") {
				t.Fatalf("line %d after %d", line, last)
			}
			last = line
			return nil
		})
	})
}
