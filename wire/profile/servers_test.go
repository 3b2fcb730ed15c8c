package profile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

// TestServers checks the servers of files, and the errors of files that have none.
func TestServers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "project")
	file := filepath.Join(folder, ".vscode", "mcp.json")
	testkit.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
	testkit.OK(t, os.WriteFile(filepath.Join(folder, "env"), []byte("A='x y'\n# B=1\nexport C = z\n"), 0o600))
	t.Chdir(folder)
	t.Setenv("HOME", "/home/me")
	t.Setenv("KEY", "s3cret")
	t.Setenv("SHORT", "abc")
	for text, want := range map[string]string{
		`{`:                    "usage: unexpected end of JSON input",
		`{}`:                   "usage: has no servers: it contains neither mcpServers nor servers",
		`{"servers":{"b":{}}}`: `usage: has no server a; it has b`,
		`{"servers":{"a":1}}`:  "usage: mcp.json#a: json: cannot unmarshal number",
		`{"servers":{"a":{}}}`: "usage: mcp.json#a: it has neither command nor url",
		`{"servers":{"a":{"command":"x","url":"y"}}}`:                                        "usage: mcp.json#a: it has both command and url",
		`{"servers":{"a":{"url":"u","headers":{"a b":"c"}}}}`:                                `usage: mcp.json#a: 'a b' is not the name of a header`,
		`{"servers":{"a":{"command":"x","envFile":"none"}}}`:                                 "usage: mcp.json#a: open none: no such file",
		`{"servers":{"a":{"command":"${A B}"}}}`:                                             "usage: mcp.json#a: unknown variable ${A B}",
		`{"servers":{"a":{"command":"${input:x}"}}}`:                                         "usage: mcp.json#a: ${input:x} is not supported",
		`{"servers":{"a":{"command":"${RPCX_UNSET}"}}}`:                                      "usage: mcp.json#a: the variable RPCX_UNSET is not set",
		`{"servers":{"a":{"url":"u","headers":{"B":"${KEY}","A":"b"}}}}`:                     `u [] [] "" [{header [A: b B: s3cret]}] [s3cret]`,
		`{"mcpServers":{"a":{"command":"x","args":["${RPCX_UNSET:-d}","${"]}},"servers":{}}`: ` [x d ${] [] "" [] []`,
		`{"servers":{"a":{"command":"${env:KEY}/${SHORT}","envFile":"${workspaceFolder}/env","env":{"B":1,"N":null,"D":"${KEY}"},"cwd":"${cwd}"}}}`: ` [s3cret/abc] [A=x y C= z B=1 D=s3cret] "` + folder + `" [] [s3cret s3cret]`,
		`{"servers":{"a":{"command":"${userHome}${/}${pathSeparator}${workspaceFolderBasename}${workspaceFolder}"}}}`:                               ` [/home/me//project` + folder + `] [] "" [] []`,
	} {
		testkit.OK(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := FindServer(file, "a")
		var got string
		if err == nil {
			var settings []string
			for _, x := range s.Settings.Settings {
				settings = append(settings, fmt.Sprintf("{%s %s}", x.Key, x.Values))
			}
			got = fmt.Sprintf("%s %s %s %q %s %s", s.URL, s.Command, s.Env, s.Dir, settings, s.Settings.Secrets())
		}
		if kind, message, ok := strings.Cut(want, ": "); ok && kind == "usage" {
			if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, message) || !strings.Contains(f.Message, file) {
				t.Errorf("%s: %v, not %s", text, err, want)
			}
		} else if err != nil || got != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
}

// Comments and trailing commas are removed, but not inside strings. Truncated input causes no endless loop.
func TestWithoutComments(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": "http://x" // a comment` + "\n}": `{"a": "http://x"}`,
		`{"a": [1, 2,], /* b */ "c": 3,}`:       `{"a": [1, 2],  "c": 3}`,
		`{"a": "\"//,}"}`:                       `{"a": "\"//,}"}`,
		`{"a": "`:                               `{"a": "`,
		`{"a": "\`:                              `{"a": "\`,
		`// only`:                               "",
		`1 /* open`:                             `1 `,
		`/`:                                     `/`,
	} {
		got := string(withoutComments([]byte(in)))
		if got != want && got != want+"\n" {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}
