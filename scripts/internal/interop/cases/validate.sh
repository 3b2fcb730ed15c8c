#!/usr/bin/env bash
# rpcx validate: all problems of real servers, live and on tapes, each compared with the specification
. "$INTEROP/lib.sh"
needs_packages
needs_built gopls golang.org/x/tools/gopls
needs go
certificate
needs_built geth .
needs_built gomcp .
needs_built dlv github.com/go-delve/delve/cmd/dlv

# Some servers do not respond to invalid requests. JSON-RPC 2.0 requires a response with the id null (section 5) and shows one
# (section 7), but only section 5.1 gives the codes. These problems are warnings.
silent='should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version'

start '^\{' geth "$PWD/geth.ipc"
address=$(field http)
for endpoint in "http://$address/" "ws://$address/ws" "unix:$PWD/geth.ipc"; do
  want 0 '' found "$endpoint" --try 'orders_add=[1,2]'
  ok "go-ethereum over ${endpoint%%:*}: no problems"
done
stop

# Over http, the server answers invalid JSON with status 400 and no JSON-RPC. In JSON-RPC 1.0, its error responses have no result.
start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
want 0 'should parse-error' found "http://127.0.0.1:$(field http)/" --try 'add=[1,2]'
want 0 '' found "tcp://127.0.0.1:$(field tcp)" --try 'add=[1,2]'
want 0 '' found "ws://127.0.0.1:$(field ws)/" --try 'add=[1,2]'
want 0 'must response-members' found "jsonrpc1+tcp://127.0.0.1:$(field v1)"
ok "jayson: status 400 without an error object; JSON-RPC 1.0 errors without a result"
stop

# The server does not respond to invalid requests, or to requests with an array of params.
want 0 'must params-by-position
should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
ok "MCP's everything server, checked as JSON-RPC 2.0: no response to invalid requests or to params by position"

want 0 'should bad-params
should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "header+exec:node $INTEROP/servers/vscode-bare.js" --try 'add=[1,2]'
ok "vscode-jsonrpc: params that are a string are accepted; no response to invalid requests"

# gopls exits after a message that it cannot parse.
want 0 'should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "header+exec:$INTEROP/.bin/gopls"
want 0 7 grep -c 'ended with status 2' lines
ok "gopls: exits after invalid JSON"

# The specification of language servers (Base Protocol) uses JSON-RPC 2.0, and defines ParseError and InvalidRequest.
want 0 "$silent" found "lsp+exec:node $INTEROP/node_modules/.bin/vscode-json-languageserver --stdio"
want 0 "$silent" found "lsp+exec:$INTEROP/.bin/gopls"
want 0 '' found "acp+exec:node $INTEROP/servers/acp-agent.mjs"
ok "language servers: no response to invalid requests; an ACP agent: no problems"

# MCP, Base Protocol: "All messages must follow JSON-RPC 2.0". Versions from 2026-07-28 on are checked without initialize.
sdk2=$INTEROP/servers/mcp2.mjs
want 0 "$silent" found "mcp+exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js stdio"
for only in '' ' modern'; do
  want 0 "$silent" found "mcp+exec:node $sdk2 stdio$only"
  want 0 '' grep -q '"method":"rpcx.validate.none","params":{"_meta":' live.tape
done
want 0 "$silent" found 'mcp+exec:gomcp serve stdio'
for only in '' modern; do
  start url node "$sdk2" http $only
  want 0 '' found "mcp+$(field url)"
  stop
done
ok "MCP servers: no response to invalid requests; versions from 2026-07-28 on are checked without a handshake"

# Over HTTP, the Go SDK answers invalid requests, and in 2025-11-25 also unknown methods, with a 400 in plain text. Streamable HTTP
# ("Sending Messages to the Server", 5) requires application/json or text/event-stream in reply to a request.
start url gomcp serve http
want 0 "$silent" found "mcp+$(field url)"
want 0 "must calls-overlap
must id-echoed
must id-large
must id-type-kept
must unknown-method
should id-of-wrong-type
should invalid-request
should parse-error
should unknown-method-code
should wrong-version" found "mcp+$(field url)" --set version=2025-11-25
stop
port=$(free_port)
start 'listening on port|listening' env PORT="$port" node "$INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp
want 0 'should id-of-wrong-type
should invalid-request
should wrong-version' found "mcp+http://127.0.0.1:$port/mcp"
stop
ok "MCP servers over HTTP: with 2025-11-25, the Go SDK answers unknown methods with plain text"

# A2A 1.0, section 9.5, defines -32601 as "Method not found". The SDK answers an unknown method with -32602.
start '^http' node "$INTEROP/servers/a2a-agent.mjs"
want 0 'should id-of-wrong-type
should invalid-request
should unknown-method-code
should wrong-version' found "a2a+$line"
stop
# JSON-RPC 2.0, section 4.1: "The Server MUST NOT reply to a Notification". rpc-websockets responds to an unknown notification.
start 'listening on' node "$INTEROP/servers/rpcws.js"
want 0 'must notification-answered
must notification-unanswered
should id-of-wrong-type' found "rpcws+ws://127.0.0.1:${line##* }"
stop
cp "$INTEROP/netrpc/main.go" main.go
go build -o netrpc main.go
start '"port"' ./netrpc
want 0 '' found "netrpc+tcp://127.0.0.1:$(field port)"
stop
ok "an A2A agent: the wrong code for an unknown method; rpc-websockets: responses to notifications; net/rpc: no problems"

# DAP, Response: command is "The command requested.". Delve does not repeat an unknown command.
start 'listening at' dlv dap --check-go-version=false --listen=127.0.0.1:0
want 0 'must response-command' found "dap+tcp://${line##* }"
ok "Delve: the response to an unknown command lacks the command"

# validate sends Node.js's inspector an unknown command, and finds no problem, live or on the tape.
start 'Debugger listening on ws' node --inspect=127.0.0.1:0 -e 'setInterval(() => {}, 1000)'
want 0 '' found "cdp+${line##* }"
want 0 1 grep -c 'Rpcx.validateNone.*wasn.t found' live.tape
stop
ok "Node.js's inspector: no problems, live or on the tape"
