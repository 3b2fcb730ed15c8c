package endpoint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rpcx/wire"
	"rpcx/wire/testkit"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, flag              string
		dialect, framing, shown string
	}{
		{"ws://host/p", "", "jsonrpc", "", "ws://host/p"},
		{"jsonrpc1+ws://host/p", "", "jsonrpc1", "", "jsonrpc1+ws://host/p"},
		{"ws://host/p", "jsonrpc1", "jsonrpc1", "", "jsonrpc1+ws://host/p"},
		{"header+exec:gopls", "", "jsonrpc", "header", "header+exec:gopls"},
		{"lsp+exec:gopls", "", "lsp", "", "lsp+exec:gopls"},
		{"jsonrpc1+lsp+exec:x", "", "jsonrpc1", "header", "jsonrpc1+header+exec:x"},
		{"jsonrpc1+concat+unix:/run/db.sock", "", "jsonrpc1", "concat", "jsonrpc1+concat+unix:/run/db.sock"},
		{"ws+unix:/a.sock:/x", "", "jsonrpc", "", "ws+unix:/a.sock:/x"},
		{"jsonrpc1+ws+unix:/a.sock:/x", "", "jsonrpc1", "", "jsonrpc1+ws+unix:/a.sock:/x"},
		{"demo:", "", "jsonrpc", "", "demo:orders"},
		{"demo:orders", "jsonrpc", "jsonrpc", "", "demo:orders"},
		{"conversation:/run/x#h3", "", "", "", "conversation:/run/x"},
		{"ws://user:secret@host/p?token=abc", "", "jsonrpc", "", ""},
	} {
		e, err := Parse(c.text, c.flag)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if e.Dialect != c.dialect || e.Framing != c.framing {
			t.Errorf("%s: dialect %q, framing %q", c.text, e.Dialect, e.Framing)
		}
		if c.shown != "" && e.String() != c.shown {
			t.Errorf("%s is printed as %s", c.text, e)
		}
		if s := e.String(); strings.Contains(s, "secret") || strings.Contains(s, "abc") {
			t.Errorf("%s is printed as %s", c.text, s)
		}
	}
}

// Endpoints that cannot be used are explained.
func TestParseFaults(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mcp.json")
	testkit.OK(t, os.WriteFile(file, []byte(`{"mcpServers":{"ftp":{"url":"ftp://h/"},"ws":{"url":"ws://h/"},"bad":{"url":"http://h:x/"}}}`), 0o600))
	for text, want := range map[string]string{
		"mcp+config:":                        "mcp+config: needs a file",
		"mcp+config:" + dir + "/none.json":   "none.json",
		"mcp+config:" + dir + "/none.json#x": "none.json",
		"mcp+config:" + file:                 "names no server: add #NAME, one of",
		"mcp+config:" + file + "#none":       "none",
		"mcp+config:" + file + "#ws":         "its url does not begin with http:// or https://",
		"mcp+config:" + file + "#bad":        "port",
		"header+config:" + file:              "config: must be written as mcp+config:FILE#NAME",
		"mcp:x":                              `"mcp" is not a transport`,
	} {
		_, err := Parse(text, "")
		if f := wire.AsFault(err); f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	testkit.Expect(t, "a text that is not an endpoint", (Change{Scheme: "tcp"}).Rewrite("mcp+mcp+mcp+x"), "mcp+mcp+mcp+x")
}

func TestPrefixAndFlagMustAgree(t *testing.T) {
	if _, err := Parse("jsonrpc1+tcp://h:1", "jsonrpc"); wire.AsFault(err) == nil {
		t.Error("a prefix that differs from --dialect was accepted")
	}
}

// The options of a codec depend only on the endpoint.
func TestCodecOptions(t *testing.T) {
	e, err := Parse("header+exec:x", "")
	testkit.OK(t, err)
	if o := e.CodecOptions(wire.Options{MaxDepth: 7}); o.Framing != "header" || o.OneWay || o.MaxDepth != 7 {
		t.Errorf("header+exec: %+v", o)
	}
	if e, err = Parse("http://h/", ""); err != nil || !e.IsHTTP() || !e.CodecOptions(wire.Options{}).OneWay {
		t.Errorf("http: %v, %v", e, err)
	}
	if (Endpoint{}).Spec().NewCodec != nil {
		t.Error("an endpoint without a dialect has a codec")
	}
}

// FuzzParse checks that any text is an endpoint or a usage error, and that endpoints are printed without their secrets.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"ws://user:secret@host/p?token=secret", "header+exec:gopls a 'b c'", "jsonrpc1+lsp+exec:x", "jsonrpc1+concat+accept+unix:/run/db.sock", "ws+unix:/a.sock:/x",
		"demo:orders", "tape:/nosuch.tape", "conversation:/run/x#h3", "@name", "tls://[::1]:1", "http+unix:/a:/b?c", "stdio:", "fd:3,4", "sse+http://h/", "ipc:", "+:+", "accept+accept+tcp::0",
	} {
		f.Add(text, "")
		f.Add(text, "mcp")
	}
	f.Fuzz(func(t *testing.T, text, dialect string) {
		if strings.Contains(text, ".toml") || strings.Contains(dialect, ".toml") || strings.Contains(text, "tape:") {
			return // a file of that name may exist
		}
		e, err := Parse(text, dialect)
		if err != nil {
			if fault := wire.AsFault(err); fault == nil || fault.Kind != wire.Usage || fault.Message == "" {
				t.Fatalf("%q: %v is not a usage fault", text, err)
			}
			return
		}
		_ = e.String()
	})
}

// A dialect file cannot have the name of another prefix.
func TestWordsOfEndpointsAreTaken(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	testkit.OK(t, os.MkdirAll(filepath.Join(dir, "rpcx", "dialects"), 0o700))
	for _, word := range append(schemeNames(), append(Prefixes(), "ws")...) {
		if word == "lsp" || strings.Contains(word, ".") {
			continue
		}
		file := filepath.Join(dir, "rpcx", "dialects", word+".toml")
		testkit.OK(t, os.WriteFile(file, []byte("name = \""+word+"\""), 0o600))
		if _, err := Parse(word+"+tcp://127.0.0.1:1", ""); err == nil || !strings.Contains(err.Error(), "give the file another name") {
			t.Errorf("%s: %v", word, err)
		}
	}
}
