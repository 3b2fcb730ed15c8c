#!/usr/bin/env bash
# recorded conversations of real programs, in which a real client accepts the played server
. "$INTEROP/lib.sh"
needs_packages
needs go
needs_built geth .

# again NAME [FLAGS...]: NAME.tape must obey the rules of its dialect, except those that FLAGS disable. Its client and its server,
# played against each other, must repeat the conversation.
again() {
  want 0 '' rpcx validate "$1.tape" --strict "${@:2}"
  want 0 '' rpcx replay "$1.tape" --to "tape:$1.tape"
  want 0 '' rpcx record unix:again.sock --to "tape:$1.tape" -o again.tape --force -- rpcx replay "$1.tape" --to @
  want 0 '' rpcx replay "$1.tape" --diff again.tape
}

# vscode-jsonrpc starts a server of hooks that calls back, or rpcx in place of that server.
serve=(rpcx serve header+stdio: --on 'add=jq:.[0] + .[1]' --on 'echo=jq:.' --on 'refuse=deny:not today' --on 'note=jq:.'
  --catalog catalog.json --hooks catalog.json
  --on 'greet=sh:rpcx call @ whoami - --jq "\"hello, \" + .name + \" at \" + (.asked.hour | tostring)"')
echo '{"catalog":1,"dialect":"jsonrpc","methods":[{"name":"ticks","kind":"stream","run":"jq:range(.n)"}]}' >catalog.json
printf '#!/bin/sh\nexec' >server
printf ' %q' "${serve[@]}" >>server
chmod +x server
shown='42
{"n":1.5,"text":"ü€😀"}
-32601
[-32001,"not today",null]
true
"hello, Ada at 9"
"string"
[0,1,2]'
# client COMMAND...: runs the client, without the lines "closed" and "exit 0", whose order varies.
client() { node "$INTEROP/clients/vscode.js" stdio "$@" | grep -v -e '^closed$' -e '^exit 0$'; }
want 0 "$shown" client rpcx record header+stdio: --to "header+exec:$PWD/server" -o vscode.tape
again vscode
want 0 "$shown" client rpcx replay vscode.tape --listen header+stdio:
want 0 '' rpcx replay vscode.tape --to "header+exec:$PWD/server"
ok "vscode-jsonrpc over stdio with Content-Length: a stream, calls in both directions, errors"

# The client and the server are jayson's.
certificate
start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
ws=ws://127.0.0.1:$(field ws)/ tcp=tcp://127.0.0.1:$(field tcp) one=tcp://127.0.0.1:$(field v1)
want 0 '3
3' rpcx record ws://127.0.0.1:0/ --to "$ws" -o jayson.tape -- \
  sh -c 'rpcx call @ add 1 2; rpcx call @ echo id=x --jq "3"; rpcx call @ fail 2>/dev/null; rpcx call @ nothing 2>/dev/null; true'
again jayson
want 0 '' rpcx replay jayson.tape --to "$ws"
want 0 '' rpcx replay jayson.tape --to "$tcp"
want 0 3 rpcx record tcp://127.0.0.1:0 --to "jsonrpc1+$one" -o one.tape -- rpcx call @ add 1 2
again one
stop
ok "jayson over ws and tcp, and with JSON-RPC 1.0"

# go-ethereum's client subscribes to go-ethereum's server. The id of the subscription differs in each run.
start '^\{' geth "$PWD/geth.ipc"
address=$(field http)
want 0 '{"number":0}
{"number":1}
{"number":2}' rpcx record ws://127.0.0.1:0/ --to "ws://$address/ws" -o geth.tape -- \
  sh -c 'rpcx subscribe @ orders_subscribe "[\"ticks\",0,1]" --count 3 && rpcx call @ orders_fail 2>/dev/null; true'
again geth
want 0 '{"number":0}
{"number":1}
{"number":2}' rpcx replay geth.tape --listen ws://127.0.0.1:0/ -- rpcx subscribe @ orders_subscribe '["ticks",0,1]' --count 3
# shellcheck disable=SC2016
want 0 '{"number":0}
{"number":1}
{"number":2}' rpcx record ws://127.0.0.1:0/ --to "ws://$address/ws" -o client.tape -- sh -c 'geth dial "$RPCX_ENDPOINT" 0 1'
stop
# shellcheck disable=SC2016
want 0 '{"number":0}
{"number":1}
{"number":2}' rpcx replay client.tape --listen ws://127.0.0.1:0/ -- sh -c 'geth dial "$RPCX_ENDPOINT" 0 1'
again client
ok "go-ethereum over ws: rpcx and geth's client subscribe and unsubscribe"

# The server is Node.js's inspector.
cat >program.js <<'JS'
let tick = 0;
setInterval(() => console.log('tick', ++tick), 20);
JS
start 'Debugger listening on ws' node --inspect=127.0.0.1:0 program.js
want 0 '42
"tick"
"tick"' rpcx record jsonrpc1+ws://127.0.0.1:0/ --to "${line##* }" -o inspector.tape -- sh -c '
  rpcx call @ Runtime.evaluate expression="6 * 7" returnByValue:=true --jq .result.value
  rpcx subscribe @ Runtime.enable --method Runtime.consoleAPICalled --jq ".args[0].value" --count 2
  rpcx call @ No.such 2>/dev/null; true'
# Some rules of JSON-RPC 1.0 do not apply: params are objects, a response has a result or an error, and an event has no id.
again inspector --disable params-array --disable response-members --disable notification-id
ok "Node.js's inspector over ws: a call, events, an error"

# The official MCP client and its everything server use tools, progress and sampling.
everything="exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js stdio"
node "$INTEROP/clients/mcp.mjs" rpcx record stdio: --to "$everything" -o mcp.tape >real
want 0 "$(cat real)" node "$INTEROP/clients/mcp.mjs" rpcx replay mcp.tape --listen stdio:
want 0 '"mcp-servers/everything"' head -n 1 real
want 0 '[{"type":"text","text":"Echo: hi"}]' sed -n 3p real
again mcp
want 0 '' rpcx replay mcp.tape --to "$everything"
ok "MCP over stdio: tools, progress, sampling"

# The server is gopls.
needs_built gopls golang.org/x/tools/gopls
mkdir project
printf 'module example.com/m\n\ngo 1.26\n' >project/go.mod
uri=file://$PWD/project
want 0 '"gopls"' rpcx record lsp+unix:gopls.sock --to lsp+exec:gopls -o gopls.tape -- rpcx call @ initialize --jq .serverInfo.name \
  '{"processId":null,"rootUri":"'"$uri"'","capabilities":{"window":{"workDoneProgress":true}}}'
again gopls
ok "gopls over a Unix socket with Content-Length"
