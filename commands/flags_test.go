package commands

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/commands/options"
	"rpcx/wire"
	"rpcx/wire/endpoint"
	"rpcx/wire/session"
)

// TestFlagsApply checks which endpoints accept a flag. Each line has a command, the flag and those that it requires, the endpoints
// that accept it, and after a semicolon those that refuse it.
func TestFlagsApply(t *testing.T) { apply(t, flagsThatApply) }

func apply(t *testing.T, lines string) {
	for line := range strings.Lines(lines) {
		words, lists, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		takes, refuses, _ := strings.Cut(lists, ";")
		command, flags, _ := strings.Cut(words, " --")
		for _, e := range strings.Fields(takes) {
			if err := applies(t, command, flags, e); err != nil {
				t.Errorf("%s: %s: %v", words, e, err)
			}
		}
		flag, _, _ := strings.Cut(strings.Fields(flags)[0], "=")
		for _, e := range strings.Fields(refuses) {
			f := wire.AsFault(applies(t, command, flags, e))
			if f == nil || f.Kind != wire.Usage || !strings.Contains(f.Message, "--"+flag+" ") || f.Hint == "" {
				t.Errorf("%s: %s: got %+v, want a usage error with the flag and what it needs", words, e, f)
			}
		}
	}
}

const flagsThatApply = `
call --cacert=f: wss://h/ https://h/ tls://h:1 accept+wss://h:1/ ; ws://h/ tcp://h:1 demo: exec:x @s
call --insecure: wss://h/ ; ws://h/ unix:x ipc:x
call --subprotocol=a: ws://h/ wss://h/ cdp+http://h/ ; http://h/ tcp://h:1 demo:
call --noise=1: exec:x ipc:x ; ws://h/ demo: tcp://h:1 @s
call --connect-timeout=1: tcp://h:1 unix:x accept+tcp://h:1 ; exec:x demo: @s
call --proxy=: tcp://h:1 ws://h/ ; unix:x accept+tcp://h:1 exec:x demo: @s
call --header=a: ws://h/ https://h/ header+tcp://h:1 lsp+exec:x ; tcp://h:1 demo: varint+tcp://h:1 @s
call --account=a: ws://h/ https://h/ mcp+http://h/ ; tcp://h:1 demo: http+unix:x:/ @s
serve --use-login: ; ws://h/ unix:x
call --ping=1: ws://h/ tcp://h:1 ; http://h/ exec:x unix:x @s
call --max-message=1: demo: exec:x tcp://h:1 ; @s
call --record=f: demo: exec:x ; @s
call --redact=a --record=f: demo: ; @s
call --redact=a: ; demo: exec:x
call --token=@f: accept+ws://h:1/ ; ws://h/ accept+tcp://h:1 demo: @s
call --public: accept+ws://h:1/ accept+tcp://h:1 ; ws://h/ tcp://h:1
call --listening=f: accept+tcp://h:1 ; tcp://h:1 demo:
call --refresh: ; ws://h/ demo: @s
call --cache: ; ws://h/
call --params-style=object: ws://h/ ; scomp+ws://h/
call --set=a=b: cdp+ws://h/ scomp+ws://h/ lsp+exec:x ; ws://h/ demo: qmp+unix:x
connect --set=a=b: scomp+ws://h/ lsp+exec:x ; cdp+ws://h/ demo:
call --resume=a: scomp+ws://h/ ; ws://h/ demo: hotrepl+ws://h/
call --no-environment: scriptling+exec:x ; exec:x demo:
call --save=d: mcp+exec:x ; ws://h/ hotrepl+ws://h/
call --jobs=2 --batch: demo: ws://h/
call --jobs=2: ; demo: ws://h/
call --retry-unsafe: ; ws://h/ http://h/
call --retry-unsafe --retry=1: http://h/
call --arg=a=b --jq=.: demo:
call --arg=a=b: ; demo:
call --hook-timeout=1 --on=a=json:1: demo: @s
call --hook-timeout=1: ; demo: ws://h/
eval --complete: hotrepl+ws://h/ ; scomp+ws://h/
eval --cursor=1 --complete: hotrepl+ws://h/
eval --cursor=1: ; hotrepl+ws://h/
subscribe --every=2: hotrepl+ws://h/ ; ws://h/
job list --kind=eval: hotrepl+ws://h/ ; mcp+exec:x
serve --runtime=jq: scomp+ws://h:1/ hotrepl+tcp://h:1 ; ws://h:1/ mcp+http://h:1/
serve --input-timeout=1: mcp+http://h/ mcp+stdio: ; ws://h/ acp+stdio:
serve --print-config: mcp+stdio: ; ws://h/
serve --frame=1: hotrepl+tcp://h:1 ; ws://h:1/
serve --token=@f: ws://h:1/ http://h:1/ ; tcp://h:1 unix:x stdio: dial+ws://h/
serve --public: tcp://h:1 ws://h:1/ ; dial+ws://h/ stdio:
serve --header=a: dial+ws://h/ ; ws://h:1/ tcp://h:1 header+tcp://h:1
serve --wait=1: dial+tcp://h:1 ; tcp://h:1 ws://h:1/
plugin call --strict: scriptling+exec:x ; scriptling+http://h/ @s
`

// applies returns the error for flags that do not apply to an endpoint. In flags, the leading "--" is missing.
func applies(t *testing.T, command, flags, at string) error {
	path := strings.Fields(command)
	c := tree(&env.Env{})
	for _, word := range path {
		if c = c.Sub(word); c == nil {
			t.Fatalf("there is no command %s", command)
		}
	}
	l := &cmdline.CommandLine{Cmd: c, Path: path, Flags: strings.Fields("--" + flags)}
	for _, f := range l.Flags {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "--"), "=")
		if l.Lookup(name) == nil {
			t.Fatalf("%s has no flag --%s", command, name)
		}
	}
	e := endpoint.Endpoint{Socket: "s", Session: "s"}
	if at != "@s" {
		var err error
		if e, err = session.ParseEndpoint(at, ""); err != nil {
			t.Fatal(err)
		}
	}
	if command == "serve" {
		return options.ForClients(l, e).Check(l)
	}
	return options.ForPeer(l, e).Check(l)
}

// TestFlagTable checks that the rows of the table name existing flags, and that flags without a row apply to all endpoints.
func TestFlagTable(t *testing.T) {
	known := map[string][]string{}
	tree(&env.Env{}).Walk(nil, func(path []string, c *cmdline.Command) {
		for _, f := range c.Flags {
			name := f.Name
			known[name] = append(known[name], strings.Join(path, " "))
		}
	})
	for _, r := range options.Conditions() {
		for _, flag := range r.Flags {
			if known[flag] == nil {
				t.Errorf("the table names --%s, which no command has", flag)
			}
			for _, command := range r.Commands {
				if !slices.Contains(known[flag], command) && !slices.ContainsFunc(r.Flags, func(other string) bool { return slices.Contains(known[other], command) }) {
					t.Errorf("the table names the command %s, which does not have --%s", command, flag)
				}
			}
		}
		if r.Needs == "" {
			t.Errorf("the row of %v has no Needs", r.Flags)
		}
	}
}

// listed returns the flags that a help text lists.
func listed(t *testing.T, words ...string) (names []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^  (?:-.,|   ) --([a-z-]+)`).FindAllStringSubmatch(helpOf(t, words...), -1) {
		names = append(names, m[1])
	}
	return names
}

// TestHelpOfAPlainEndpoint checks that help lists at most 45 flags for a plain endpoint and a dialect's flags only for its
// endpoints, and that `rpcx help --json` lists each shared flag once.
func TestHelpOfAPlainEndpoint(t *testing.T) {
	for _, e := range []string{"", "ws://h/", "wss://h/", "http://h/", "https://h/", "tcp://h:1", "tls://h:1", "unix:x", "exec:x", "demo:"} {
		words := []string{"call", e, "--help"}
		if e == "" {
			words = []string{"call", "--help"}
		}
		if n := len(listed(t, words...)); n > 45 || n < 20 {
			t.Errorf("rpcx call %s --help lists %d flags", e, n)
		}
	}
	plain := listed(t, "call", "ws://h/", "--help")
	if accept := listed(t, "call", "accept+ws://h:1/", "--help"); slices.Contains(plain, "token") || !slices.Contains(accept, "token") {
		t.Error("the help of ws lists --token, or that of accept+ws does not")
	}
	if serve := listed(t, "serve", "header+tcp://h:1", "--help"); slices.Contains(serve, "header") || !slices.Contains(serve, "hooks") {
		t.Error("serve lists --header for header+tcp, where it does not apply")
	}
	if n := len(helpOf(t, "help", "--json")); n > 120_000 {
		t.Errorf("rpcx help --json has %d bytes", n)
	}
}

// helpOf returns the output of rpcx.
func helpOf(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.Command("rpcx", words...).Output() // TestMain has added it to PATH
	if err != nil {
		t.Fatalf("rpcx %s: %v", strings.Join(words, " "), err)
	}
	return string(out)
}
