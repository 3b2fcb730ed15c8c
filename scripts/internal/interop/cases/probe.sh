#!/usr/bin/env bash
# rpcx describe --probe detects the dialect and the framing of real servers
. "$INTEROP/lib.sh"
needs_packages
needs_built gopls golang.org/x/tools/gopls
needs_built geth .
needs_built gomcp .
needs go
certificate

# found ENDPOINT: prints the result of --probe, without the address.
found() {
  rpcx describe "$1" --probe -r -q .probe.endpoint | sed -E 's/(tcp|ws|http|unix|exec):.*/\1/'
}

start '^\{' geth "$PWD/geth.ipc"
address=$(field http)
want 0 http found "http://$address/"
want 0 ws found "ws://$address/ws"
want 0 unix found "unix:$PWD/geth.ipc"
stop
ok "go-ethereum over http, ws and a Unix socket"

start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
want 0 http found "http://127.0.0.1:$(field http)/"
want 0 tcp found "tcp://127.0.0.1:$(field tcp)"
want 0 ws found "ws://127.0.0.1:$(field ws)/"
want 0 jsonrpc1+tcp found "tcp://127.0.0.1:$(field v1)"
stop
ok "jayson over http, tcp and ws, and with JSON-RPC 1.0"

sdk2=$INTEROP/servers/mcp2.mjs everything=$INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js
want 0 mcp+exec found "exec:node $everything stdio"
want 0 mcp+exec found "exec:node $sdk2 stdio"
want 0 mcp+exec found "exec:node $sdk2 stdio modern"
want 0 mcp+exec found 'exec:gomcp serve stdio'
for server in "node $sdk2 http" "node $sdk2 http modern" 'gomcp serve http'; do
  # shellcheck disable=SC2086 # the shell splits the command into words
  start url $server
  want 0 mcp+http found "$(field url)"
  stop
done
port=$(free_port)
start 'listening on port|listening' env PORT="$port" node "$everything" streamableHttp
want 0 mcp+http found "http://127.0.0.1:$port/mcp"
stop
ok "MCP servers with and without a handshake, over stdio and HTTP"

want 0 lsp+exec found "exec:$INTEROP/.bin/gopls"
want 0 lsp+exec found "header+exec:$INTEROP/.bin/gopls"
want 0 lsp+exec found "exec:node $INTEROP/node_modules/.bin/vscode-json-languageserver --stdio"
want 0 header+exec found "exec:node $INTEROP/servers/vscode-bare.js"
want 0 acp+exec found "exec:node $INTEROP/servers/acp-agent.mjs"
ok "language servers, a JSON-RPC peer with the same framing, an ACP agent"

start '^http' node "$INTEROP/servers/a2a-agent.mjs"
want 0 a2a+http found "$line"
stop
start 'listening on' node "$INTEROP/servers/rpcws.js"
want 0 rpcws+ws found "ws://127.0.0.1:${line##* }"
stop
cp "$INTEROP/netrpc/main.go" main.go
go build -o netrpc main.go
start '"port"' ./netrpc
want 0 netrpc+tcp found "tcp://127.0.0.1:$(field port)"
stop
echo 'setInterval(() => {}, 1000)' >program.js
start 'Debugger listening on ws' node --inspect=127.0.0.1:0 program.js
want 0 cdp+ws found "${line##* }"
stop
ok "A2A, rpc-websockets, net/rpc, Node.js's inspector"
