package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire/testkit"
)

// laid writes files into a new directory. Those that begin with "#!" are executable.
func laid(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		at := filepath.Join(dir, name)
		testkit.OK(t, os.MkdirAll(filepath.Dir(at), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(content, "#!") {
			mode = 0o755
		}
		testkit.OK(t, os.WriteFile(at, []byte(content), mode))
	}
	return dir
}

const script = "#!/bin/sh\n"

func TestFolders(t *testing.T) {
	dir := laid(t, map[string]string{
		"tools/call.py": script, "tools/list": script, "get.order.sh": script, ".git/hooks/x": script, "v1.2": script,
		"tools/.hidden": script, "tools/call.py~": script, "data.json": `{"any":"thing"}`, "notes/read.txt": "text",
	})
	testkit.OK(t, os.Symlink(filepath.Join(dir, "tools"), filepath.Join(dir, "more")))
	entries, c, err := FromDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Pattern)
	}
	if got := strings.Join(names, " "); err != nil || c != nil || got != "get.order tools/call tools/list v1.2" {
		t.Errorf("%q, %v, %v", got, c, err)
	}
	testkit.Expect(t, "the stamp of a missing folder", Stamp(filepath.Join(dir, "none")), filepath.Join(dir, "none"))
}

func TestFolderDescriptions(t *testing.T) {
	dir := laid(t, map[string]string{
		"orders/get.sh": script,
		"orders/get.json": `{"description":"one order","params":{"$ref":"../schemas/id.json"},"result":{"$ref":"#/$defs/o"},
			"$defs":{"o":{"type":"object","properties":{"id":{"$ref":"../schemas/id.json#/properties/id"}}}}}`,
		"schemas/id.json": `{"type":"object","properties":{"id":{"type":"string"},"in":{"$ref":"#"}}}`,
	})
	_, c, err := FromDir(dir)
	testkit.OK(t, err)
	got, err := c.Marshal()
	want := `{"catalog":1,"info":{},"methods":[{"name":"orders/get","description":"one order","params":{"$ref":"#/$defs/schemas~1id.json"},` +
		`"result":{"$ref":"#/$defs/orders~1get.json/$defs/o"}}],`
	if err != nil || !strings.HasPrefix(string(got), want) ||
		!strings.Contains(string(got), `"schemas/id.json":{"type":"object","properties":{"id":{"type":"string"},"in":{"$ref":"#/$defs/schemas~1id.json"}}}`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestFolderFaults(t *testing.T) {
	outside := laid(t, map[string]string{"secret.json": `{"type":"string"}`})
	for name, tt := range map[string]struct {
		files map[string]string
		why   string
	}{
		"two languages":               {map[string]string{"x/a.py": script, "x/a.js": script}, "both x/a.js and x/a.py"},
		"run":                         {map[string]string{"a": script, "a.json": `{"run":"sh:1"}`}, "run is not allowed in a description"},
		"another name":                {map[string]string{"a": script, "a.json": `{"name":"b"}`}, "the file describes a"},
		"not JSON":                    {map[string]string{"a": script, "a.json": `{`}, "must be a JSON object"},
		"above the directory":         {map[string]string{"a": script, "a.json": `{"params":{"$ref":"../x.json"}}`}, "points outside of the directory"},
		"an absolute path":            {map[string]string{"a": script, "a.json": `{"params":{"$ref":"/etc/passwd"}}`}, "points outside of the directory"},
		"a URL":                       {map[string]string{"a": script, "a.json": `{"params":{"$ref":"file:///etc/passwd"}}`}, "points outside of the directory"},
		"a link out of the directory": {map[string]string{"a": script, "a.json": `{"params":{"$ref":"out/secret.json"}}`}, "out/secret.json"},
		"a file that does not exist":  {map[string]string{"a": script, "a.json": `{"params":{"$ref":"none.json"}}`}, "none.json"},
		"a JSON file of others":       {map[string]string{"a": script, "a.json": `{"params":{"$ref":"open.json"}}`, "open.json": "1"}, "other users can write to it"},
		"a directory as description":  {map[string]string{"a": script, "a.json/b": ""}, "is a directory"},
		"a fragment":                  {map[string]string{"a": script, "a.json": `{"params":{"$ref":"b.json#c"}}`}, "only a JSON pointer may follow the #"},
		"a description of numbers":    {map[string]string{"a": script, "a.json": `{"description":1}`}, "/description: it must be a string"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := laid(t, tt.files)
			_ = os.Chmod(filepath.Join(dir, "open.json"), 0o666)
			testkit.OK(t, os.Symlink(outside, filepath.Join(dir, "out")))
			_, _, err := FromDir(dir)
			refused(t, err, tt.why)
		})
	}
}

func TestRelativeRun(t *testing.T) {
	dir := laid(t, map[string]string{"h.json": `{"catalog":1,"methods":[{"name":"a","run":"./a --b"},{"name":"c","run":"co:../c"},{"name":"d","run":"jq:."},{"name":"e","run":"cat"}]}`})
	entries, _, err := FromFile(filepath.Join(dir, "h.json"))
	testkit.OK(t, err)
	for i, want := range []string{quote(dir) + "/./a --b", quote(dir) + "/../c", ".", "cat"} {
		testkit.Expect(t, entries[i].Pattern, entries[i].Answer.Text, want)
	}
}
