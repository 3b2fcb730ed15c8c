package commands

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

type floor struct {
	pkg     string
	ours    []string
	foreign []string
}

// floors lists, for each package of rpcx, the packages that it may import (by prefix, below rpcx/) and the third-party modules that
// no other package may import.
var floors = []floor{
	{"wire", []string{"wire/scan"}, nil},
	{"wire/scan", nil, nil},
	{"wire/trust", []string{"wire"}, []string{"golang.org/x/sys/windows"}},
	{"wire/syserr", nil, nil},
	{"wire/redact", []string{"wire", "wire/scan"}, nil},
	{"wire/scratch", nil, nil},
	{"wire/userfile", nil, nil},
	{"wire/xdg", nil, nil},
	{"wire/toml", []string{"wire"}, []string{"github.com/pelletier/go-toml/v2"}},
	{"wire/catalog", []string{"wire", "wire/scan", "wire/userfile"}, nil},
	{"wire/jq", []string{"wire", "wire/scan"}, []string{"github.com/itchyny/gojq"}},
	{"wire/jq/ahead", []string{"wire", "wire/jq"}, nil},
	{"wire/dialect", []string{"wire", "wire/scan", "wire/catalog"}, nil},
	{"wire/framing", []string{"wire", "wire/scan"}, nil},
	{"wire/schema", []string{"wire", "wire/scan", "wire/catalog", "wire/userfile"}, []string{"github.com/santhosh-tekuri/jsonschema/v6", "github.com/dlclark/regexp2/v2"}},
	{"wire/transport", []string{"wire", "wire/redact", "wire/syserr", "wire/userfile"}, nil},
	{"wire/transport/httpbody", []string{"wire"}, nil},
	{"wire/transport/stdio", []string{"wire", "wire/transport"}, []string{"golang.org/x/sys"}},
	{"wire/transport/stream", []string{"wire", "wire/redact", "wire/syserr", "wire/transport"}, []string{"golang.org/x/net", "golang.org/x/sys"}},
	{"wire/transport/child", []string{"wire", "wire/transport", "wire/transport/stream"}, []string{"golang.org/x/sys"}},
	{"wire/transport/httpclient", []string{"wire", "wire/scan", "wire/redact", "wire/transport", "wire/transport/httpbody", "wire/transport/stream"}, nil},
	{"wire/transport/ws", []string{"wire", "wire/redact", "wire/transport", "wire/transport/httpclient"}, []string{"github.com/coder/websocket", "golang.org/x/sys"}},
	{"wire/transport/httpserver", []string{"wire", "wire/scan", "wire/transport", "wire/transport/httpbody", "wire/transport/stream", "wire/transport/ws"}, nil},
	{"wire/transport/schemes", []string{"wire", "wire/transport", "wire/transport/*"}, nil},
	{"wire/peer/mailbox", []string{"wire"}, nil},
	{"wire/peer/ending", []string{"wire"}, nil},
	{"wire/peer/early", []string{"wire", "wire/peer/mailbox"}, nil},
	{"wire/peer/inbound", []string{"wire", "wire/dialect"}, nil},
	{"wire/peer", []string{"wire", "wire/scan", "wire/dialect", "wire/peer/*"}, nil},
	{"wire/hook", []string{"wire", "wire/scan", "wire/catalog", "wire/jq", "wire/trust", "wire/dialect", "wire/transport", "wire/transport/child", "wire/userfile"}, nil},
	{"wire/dialect/jsonrpc", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect"}, nil},
	{"wire/dialect/introspect", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/jsonrpc"}, nil},
	{"wire/dialect/scriptling", []string{"wire", "wire/scan", "wire/scratch", "wire/catalog", "wire/dialect", "wire/dialect/jsonrpc"}, nil},
	{"wire/dialect/poll", []string{"wire", "wire/scan", "wire/dialect"}, nil},
	{"wire/dialect/ro", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/poll", "wire/dialect/jsonrpc"}, nil},
	{"wire/dialect/scomp", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/jsonrpc", "wire/dialect/poll"}, nil},
	{"wire/dialect/hotrepl", []string{"wire", "wire/scan", "wire/scratch", "wire/catalog", "wire/dialect", "wire/dialect/poll"}, nil},
	{"wire/dialect/page/program", []string{"wire", "wire/scan", "wire/jq"}, nil},
	{"wire/dialect/page/load", []string{"wire", "wire/scan", "wire/catalog", "wire/toml", "wire/trust", "wire/dialect/page/program", "wire/userfile"}, nil},
	{"wire/dialect/page/envelope", []string{"wire", "wire/scan", "wire/dialect", "wire/dialect/jsonrpc", "wire/dialect/page/*"}, nil},
	{"wire/dialect/page/codec", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/poll", "wire/dialect/jsonrpc", "wire/dialect/page/*"}, nil},
	{"wire/dialect/page/server", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/page/*"}, nil},
	{"wire/dialect/page", []string{"wire", "wire/framing", "wire/toml", "wire/xdg", "wire/dialect", "wire/dialect/jsonrpc", "wire/dialect/page/*"}, nil},
	{"wire/dialect/mcp/modern", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/page/server"}, nil},
	{"wire/dialect/a2a", []string{"wire", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/poll", "wire/dialect/page", "wire/dialect/page/codec", "wire/dialect/page/server"}, nil},
	{"wire/dialect/mcp", []string{"wire", "wire/dialect/mcp/modern", "wire/scan", "wire/catalog", "wire/dialect", "wire/dialect/poll", "wire/dialect/page", "wire/dialect/page/codec", "wire/dialect/page/server"}, nil},
	{"wire/dialect/all", []string{"wire", "wire/catalog", "wire/dialect", "wire/dialect/*"}, nil},
	{"wire/tape", []string{"wire", "wire/scan", "wire/redact", "wire/userfile"}, nil},
	{"wire/tape/match", []string{"wire", "wire/scan", "wire/jq", "wire/redact", "wire/dialect"}, nil},
	{"wire/tape/recorder", []string{"wire", "wire/scan", "wire/jq", "wire/redact", "wire/tape", "wire/tape/match"}, nil},
	{"wire/tape/wiretap", []string{"wire", "wire/dialect", "wire/scan", "wire/tape/match", "wire/tape/recorder"}, nil},
	{"wire/tape/transcript", []string{"wire", "wire/scan", "wire/redact", "wire/scratch", "wire/tape", "wire/tape/match", "wire/userfile"}, nil},
	{"wire/tape/player", []string{"wire", "wire/scan", "wire/jq", "wire/redact", "wire/catalog", "wire/dialect", "wire/tape", "wire/tape/*"}, nil},
	{"wire/serve", []string{"wire", "wire/scan", "wire/jq", "wire/catalog", "wire/dialect", "wire/schema", "wire/hook"}, nil},
	{"wire/profile", []string{"wire", "wire/scan", "wire/catalog", "wire/toml", "wire/trust", "wire/xdg", "wire/userfile"}, nil},
	{"wire/endpoint", []string{"wire", "wire/redact", "wire/catalog", "wire/framing", "wire/transport", "wire/transport/schemes", "wire/dialect", "wire/dialect/all", "wire/serve", "wire/profile", "wire/tape", "wire/userfile"}, nil},
	{"wire/cache", []string{"wire", "wire/scan", "wire/catalog", "wire/transport", "wire/dialect", "wire/endpoint", "wire/xdg"}, nil},
	{"wire/oauth/keyring", nil, []string{"github.com/zalando/go-keyring"}},
	{"wire/oauth", []string{"wire", "wire/scan", "wire/redact", "wire/cache", "wire/trust", "wire/transport", "wire/transport/httpclient", "wire/userfile", "wire/xdg", "wire/oauth/keyring"}, []string{"golang.org/x/oauth2", "golang.org/x/sys"}},
	{"wire/session/rundir", []string{"wire", "wire/scan", "wire/syserr", "wire/catalog", "wire/cache", "wire/profile", "wire/xdg"}, nil},
	{"wire/session/relay", []string{"wire", "wire/scan", "wire/syserr", "wire/catalog", "wire/framing", "wire/peer", "wire/dialect", "wire/dialect/all", "wire/dialect/jsonrpc", "wire/endpoint", "wire/cache", "wire/redact", "wire/session/rundir"}, nil},
	{"wire/validate", []string{"wire/schema"}, nil},
	{"wire/validate/versions", []string{"wire", "wire/scan", "wire/catalog", "wire/schema", "wire/validate"}, nil},
	{"wire/validate/values", []string{"wire", "wire/scan", "wire/catalog", "wire/schema", "wire/validate", "wire/userfile"}, nil},
	{"wire/validate/rules", []string{"wire", "wire/scan", "wire/redact", "wire/catalog", "wire/toml", "wire/jq", "wire/schema", "wire/dialect", "wire/dialect/all", "wire/tape", "wire/tape/match", "wire/validate"}, nil},
	{"wire/validate/declared", []string{"wire", "wire/scan", "wire/catalog", "wire/schema", "wire/validate"}, nil},
	{"wire/validate/probes", []string{"wire", "wire/scan", "wire/toml", "wire/jq", "wire/dialect", "wire/dialect/all", "wire/tape/match", "wire/validate/rules", "wire/validate"}, nil},
	{"wire/session", []string{"wire", "wire/*"}, nil},
	{"wire/session/bridge", []string{"wire", "wire/*"}, nil},
	{"wire/session/daemon/inbox", []string{"wire", "wire/scan", "wire/dialect", "wire/session/relay"}, nil},
	{"wire/session/daemon", []string{"wire", "wire/*"}, nil},
	{"format", []string{"wire", "wire/scan", "wire/syserr", "wire/redact", "wire/jq", "wire/jq/ahead", "wire/catalog", "format/*"}, []string{"golang.org/x/term"}},
	{"format/render", []string{"wire", "wire/scan", "wire/userfile"}, nil},
	{"format/report", []string{"wire", "wire/scan", "format"}, nil},
	{"format/keyboard", nil, []string{"golang.org/x/text/width"}},
	{"format/tapeview", []string{"wire", "wire/scan", "wire/redact", "wire/jq", "wire/tape", "format"}, nil},
	{"commands/params", []string{"wire", "wire/scan", "wire/redact", "wire/catalog", "wire/schema", "wire/userfile"}, nil},
	{"commands/artifacts", []string{"wire", "wire/scan", "wire/session", "wire/endpoint", "format", "commands/cmdline", "commands/env"}, nil},
	{"commands/cmdline", []string{"wire", "wire/redact", "wire/scan", "wire/catalog", "wire/session", "format", "commands/params"}, []string{"github.com/urfave/cli/v3"}},
	{"commands/env/output", []string{"format"}, nil},
	{"commands/env", []string{"wire", "wire/*", "format", "commands/env/output", "commands/cmdline"}, nil},
	{"commands/complete", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/help"}, nil},
	{"commands/help", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env"}, nil},
	{"commands/options", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/params"}, nil},
	{"commands/dialects", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/params"}, nil},
	{"commands/suggest", []string{"wire", "wire/*", "commands/cmdline", "commands/env", "commands/params"}, nil},
	{"commands/request", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/dialects", "commands/params", "commands/suggest", "commands/artifacts"}, nil},
	{"commands/batch", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/request", "commands/params", "commands/suggest"}, nil},
	{"commands/prompt", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/request", "commands/params", "commands/suggest"}, nil},
	{"commands/finding", []string{"wire", "wire/*", "commands/env", "commands/options"}, nil},
	{"commands/server", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/request"}, nil},
	{"commands/daemon", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/dialects", "commands/request"}, nil},
	{"commands/replay", []string{"wire", "wire/*", "format", "format/report", "format/tapeview", "commands/cmdline", "commands/env", "commands/options", "commands/server"}, nil},
	{"commands/validate", []string{"wire", "wire/*", "format", "format/report", "commands/cmdline", "commands/env", "commands/options", "commands/request", "commands/server"}, nil},
	{"commands/auth", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/request"}, nil},
	{"commands/plugin", []string{"wire", "wire/*", "format", "commands/cmdline", "commands/env", "commands/options", "commands/request", "commands/server", "commands/params"}, nil},
	{"commands", []string{"*"}, nil},
	{"", []string{"commands"}, nil},
}

// TestFloors checks that a package imports only from lower floors, and that only one package imports each third-party module,
// except golang.org/x/sys.
func TestFloors(t *testing.T) {
	for _, system := range []string{"linux", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "rpcx")
		list.Env = append(os.Environ(), "GOOS="+system)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		standing(t, string(out))
	}
}

// standing checks the imports in the output of go list.
func standing(t *testing.T, list string) {
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		pkg, ok := ours(words[0])
		if !ok {
			continue
		}
		i := slices.IndexFunc(floors, func(f floor) bool { return f.pkg == pkg })
		if i < 0 {
			t.Errorf("rpcx/%s has no row: add it to the table", pkg)
			continue
		}
		for _, imp := range words[1:] {
			if in, ok := ours(imp); ok {
				if !allowed(floors[i].ours, in) {
					t.Errorf("rpcx/%s may not import rpcx/%s", pkg, in)
				}
			} else if strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !slices.ContainsFunc(floors[i].foreign, func(m string) bool { return strings.HasPrefix(imp, m) }) {
				t.Errorf("rpcx/%s may not import %s", pkg, imp)
			}
		}
	}
}

// ours removes rpcx/ from a path, and reports whether it was there.
func ours(path string) (string, bool) {
	if path == "rpcx" {
		return "", true
	}
	return strings.CutPrefix(path, "rpcx/")
}

func allowed(list []string, pkg string) bool {
	for _, a := range list {
		if a == pkg || a == "*" || strings.HasSuffix(a, "/*") && strings.HasPrefix(pkg, strings.TrimSuffix(a, "*")) {
			return true
		}
	}
	return false
}
