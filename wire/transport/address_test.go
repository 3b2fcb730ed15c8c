package transport

import (
	"reflect"
	"strings"
	"testing"

	"rpcx/wire"
)

func TestParseAddress(t *testing.T) {
	for in, want := range map[string]Address{
		"ws://host":                          {Scheme: "ws", Host: "host", URLPath: "/"},
		"ws://host:81/a/b?c=d&e":             {Scheme: "ws", Host: "host:81", URLPath: "/a/b?c=d&e"},
		"wss://[::1]:9/x%2Fy":                {Scheme: "wss", Host: "[::1]:9", URLPath: "/x%2Fy"},
		"http://host:?q":                     {Scheme: "http", Host: "host", URLPath: "/?q"},
		"https://h/a b":                      {Scheme: "https", Host: "h", URLPath: "/a%20b"},
		"http://:8080":                       {Scheme: "http", Host: ":8080", URLPath: "/"},
		"tcp://127.0.0.1:9000":               {Scheme: "tcp", Host: "127.0.0.1:9000"},
		"tcp://:0":                           {Scheme: "tcp", Host: ":0"},
		"tls://[fe80::1%eth0]:1":             {Scheme: "tls", Host: "[fe80::1%eth0]:1"},
		"unix:/tmp/x.sock":                   {Scheme: "unix", Path: "/tmp/x.sock"},
		"unix:///tmp/x.sock":                 {Scheme: "unix", Path: "/tmp/x.sock"},
		"unix:rel/x y":                       {Scheme: "unix", Path: "rel/x y"},
		"unix:@x":                            {Scheme: "unix", Path: "@x"},
		"ws+unix:/tmp/x":                     {Scheme: "ws+unix", Path: "/tmp/x", URLPath: "/"},
		"ws+unix:/tmp/x:/rpc?a=b":            {Scheme: "ws+unix", Path: "/tmp/x", URLPath: "/rpc?a=b"},
		"http+unix:/a:/b:/c":                 {Scheme: "http+unix", Path: "/a:/b", URLPath: "/c"},
		"http+unix:///run/docker.sock:/info": {Scheme: "http+unix", Path: "/run/docker.sock", URLPath: "/info"},
		"stdio:":                             {Scheme: "stdio"},
	} {
		a, err := Parse(in)
		if err != nil || !reflect.DeepEqual(a, want) {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", in, a, err, want)
		}
	}
}

func TestParseAddressRefuses(t *testing.T) {
	for _, c := range []struct{ in, says, hint string }{
		{"", "empty", "tcp://host:port"},
		{"localhost:8080", "begin with a transport", "tcp://localhost:8080"},
		{"localhost:8080/rpc", "begin with a transport", "ws://localhost:8080/rpc"},
		{"example.com/rpc", "begin with a transport", "ws://example.com/rpc"},
		{"./plugin", "begin with a transport", "exec:COMMAND starts"},
		{"/usr/bin/plugin", "begin with a transport", "exec:COMMAND starts"},
		{"/tmp/x.sock", "begin with a transport", "unix:/tmp/x.sock"},
		{"gopls", "begin with a transport", "exec:gopls"},
		{"ftp://host", `"ftp"`, "ws, wss"},
		{"ws:host", "//host", "ws://host"},
		{"ws:/host:80/a", "//host", "ws://host:80/a"},
		{"ws://", "missing", "ws://127.0.0.1/"},
		{"ws:///path", "missing", ""},
		{"ws://host:http", "port", ""},
		{"ws://host:70000", "70000", ""},
		{"ws://host/a#b", "#", "%23"},
		{"ws://h/%zz", "escape", ""},
		{"tcp:host:1", "//host:port", "tcp://host:1"},
		{"tcp://", "missing", "tcp://127.0.0.1:9000"},
		{"tcp://host", "port is missing after host", "tcp://host:9000"},
		{"tcp://host:", "port is missing", ""},
		{"tcp://[::1]", "port is missing", "tcp://[::1]:9000"},
		{"tcp://::1:80", "brackets", "tcp://[::1]:80"},
		{"tcp://host:ssh", "not a port number", ""},
		{"tcp://host:65536", "not a port number", ""},
		{"tcp://host:80/x", "'/'", "tcp://host:port"},
		{"tcp://me@host:80", "'@'", "tcp://host:port"},
		{"tcp://[zz:1]:80", "not an IPv6", ""},
		{"unix:", "missing", ""},
		{"unix://tmp/x", "two slashes", "unix:tmp/x or unix:/tmp/x"},
		{"unix:~/x", "~", "unix:$HOME/x"},
		{"unix:a\x00b", "NUL", ""},
		{"ws+unix::/p", "missing", ""},
		{"ws+unix:/s:/a#b", "not a URL path", ""},
		{"stdio:x", "nothing may follow", "stdio:"},
	} {
		_, err := Parse(c.in)
		f := wire.AsFault(err)
		if f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Hint, c.hint) {
			t.Errorf("Parse(%q): %+v; want a usage fault with %q and the hint %q", c.in, f, c.says, c.hint)
		}
	}
}

func TestAddressIsShownWithoutSecrets(t *testing.T) {
	for in, want := range map[string]string{
		"ws://me:secret@host/a?key=secret&x&y=": "ws://…@host/a?key=…&x&y=",
		"http+unix:/s:/a?t=secret":              "http+unix:/s:/a?t=…",
		"tcp://[::1]:1":                         "tcp://[::1]:1",
		"unix:///a":                             "unix:/a",
		"exec:a 'b c' \"d'e\" '' '$x'":          `exec:a 'b c' 'd'\''e' '' '$x'`,
		"exec:'A=1'":                            "exec:'A=1'",
		"ipc:":                                  "ipc:",
		"stdio:":                                "stdio:",
	} {
		a, err := Parse(in)
		if err != nil || a.String() != want {
			t.Errorf("Parse(%q).String() = %q, %v; want %q", in, a.String(), err, want)
		}
	}
	if _, err := Parse("ws://me:secret@ho st/"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error shows the password: %v", err)
	}
}

// FuzzParse checks that errors of Parse are usage Faults, and that the output of String is parsed to the same address.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ws://u:p@h:1/p?q=1", "tcp://[::1]:1", "ws+unix:/a:/b", `exec:a 'b' "c" \d`, "ipc:", "unix:///x", "unix:////x", "localhost:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := Parse(s)
		if err != nil {
			if wire.AsFault(err) == nil || wire.AsFault(err).Kind != wire.Usage {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		shown := a.String()
		if a.User != nil || strings.Contains(a.URLPath, "=") {
			return
		}
		if b, err := Parse(shown); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q is printed as %q, which parses as %+v, %v; want %+v", s, shown, b, err, a)
		}
	})
}
