#!/usr/bin/env bash
# rpcx validate: what it finds in real servers, by name: jayson, go-ethereum's rpc, MCP's server, vscode-jsonrpc, gopls
. "$INTEROP/lib.sh"
needs_packages
needs_built gopls golang.org/x/tools/gopls
needs go
certificate
needs_built geth .

# found ENDPOINT FLAGS...: the level and the name of each broken rule, once.
found() {
  rpcx validate "$@" --idle 2s >lines || true
  sed -n 's/.*"rule":"\([^"]*\)","level":"\([^"]*\)".*/\2 \1/p' lines | sort -u
}

start '^\{' geth "$PWD/geth.ipc"
address=$(field http)
for endpoint in "http://$address/" "ws://$address/ws" "unix:$PWD/geth.ipc"; do
  want 0 '' found "$endpoint" --try 'orders_add=[1,2]'
  ok "go-ethereum over ${endpoint%%:*}: nothing"
done
stop

# Over http, what is no JSON is a 400 with no JSON-RPC in it. Its 1.0 leaves
# out the result of a failure.
start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
want 0 'should parse-error' found "http://127.0.0.1:$(field http)/" --try 'add=[1,2]'
want 0 '' found "tcp://127.0.0.1:$(field tcp)" --try 'add=[1,2]'
want 0 '' found "ws://127.0.0.1:$(field ws)/" --try 'add=[1,2]'
want 0 'must response-members' found "jsonrpc1+tcp://127.0.0.1:$(field v1)"
ok "jayson: a 400 without an error object, 1.0 without result"
stop

# What is no request, an array of params included, is never answered.
want 0 'must params-by-position
should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
ok "MCP's server, held against JSON-RPC 2.0: what is no request is never answered"

want 0 'should bad-params
should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "header+exec:node $INTEROP/servers/vscode-bare.js" --try 'add=[1,2]'
ok "vscode-jsonrpc: params that are a text are passed on, what is no request is never answered"

# What it cannot read ends gopls.
want 0 'should batch
should batch-empty
should batch-invalid
should id-of-wrong-type
should invalid-request
should parse-error
should wrong-version' found "header+exec:$INTEROP/.bin/gopls"
want 0 7 grep -c 'ended with status 2' lines
ok "gopls: ends at what it cannot read"
