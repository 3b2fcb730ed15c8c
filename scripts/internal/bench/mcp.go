package main

import (
	"os"
	"path/filepath"
)

// modules is the directory of the npm packages in scripts/internal/interop.
const modules = "scripts/internal/interop/node_modules"

const (
	mcpClient = "@modelcontextprotocol/client"
	mcpc      = "@apify/mcpc"
)

// missing returns a package that the row needs and that is not installed, or "".
func (r row) missing() string {
	for _, name := range r.packages {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil || !found("node") {
			return name
		}
	}
	return ""
}

// typescript makes one call with the client of the TypeScript SDK 2, which detects the server's version as rpcx does.
const typescript = `const { Client, StreamableHTTPClientTransport } = require("` + mcpClient + `");
(async () => {
  const client = new Client({ name: "bench", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[1])));
  console.log((await client.callTool({ name: "echo", arguments: { a: 1 } })).content[0].text);
  await client.close();
})();`

// mcpRows measure a tool call over HTTP, with and without an open session. All clients call the same server.
func mcpRows() []row {
	return []row{
		{
			name: "mcp-http", what: "one tool call over mcp+http", unit: wallPerRun, n: size{1, 1}, runs: size{10, 3},
			goal: goal{0.25, "TypeScript client"}, packages: []string{mcpClient, mcpc},
			clients: func(l *lab, _ int) ([]client, error) {
				url, env, err := l.mcp()
				return []client{
					{"rpcx", l.rpcx("call", url, "echo", "a:=1")},
					{"TypeScript client", job{args: []string{"node", "-e", typescript, url[len("mcp+"):]}, env: env}},
					{"mcpc (connect, call, close)", job{env: env, args: []string{
						"sh", "-ec", `"$0" connect "$1" @one; "$0" @one tools-call echo a:=1; "$0" close @one`, modules + "/.bin/mcpc", url[len("mcp+"):],
					}}},
				}, err
			},
		},
		{
			name: "mcp-session", what: "one tool call over mcp+http through a session", unit: wallPerRun, n: size{1, 1}, runs: size{10, 3},
			goal: goal{0.25, "mcpc"}, packages: []string{mcpc},
			clients: func(l *lab, _ int) ([]client, error) {
				url, env, err := l.mcp()
				if err == nil {
					err = l.session("mcp", url)
				}
				if err == nil {
					_, err = job{args: []string{modules + "/.bin/mcpc", "connect", url[len("mcp+"):], "@open"}, env: env}.run()
				}
				l.ends = append(l.ends, func() { _, _ = job{args: []string{modules + "/.bin/mcpc", "close", "@open"}, env: env}.run() })
				return []client{
					{"rpcx", l.rpcx("call", "@mcp", "echo", "a:=1")},
					{"mcpc", job{args: []string{modules + "/.bin/mcpc", "@open", "tools-call", "echo", "a:=1"}, env: env}},
				}, err
			},
		},
	}
}

// mcp starts an MCP server. It returns the endpoint, and the environment for other clients.
func (l *lab) mcp() (endpoint string, env []string, err error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	url, stop, err := serve(l.at("rpcx"), "mcp+http://127.0.0.1:0/mcp", "--on", "echo=jq:.")
	if err != nil {
		return "", nil, err
	}
	l.ends = append(l.ends, stop)
	return url, []string{"NODE_PATH=" + wd + "/" + modules, "MCPC_HOME_DIR=" + l.at("mcpc"), "HOME=" + l.dir}, nil
}
