#!/usr/bin/env bash
# jayson's clients and rpcx serve over http, tcp and ws: calls, batches, notifications and JSON-RPC 1.0
. "$INTEROP/lib.sh"
needs_packages

options=(--on 'add=jq:.[0] + .[1]' --on 'echo=jq:.' --on 'refuse=deny:not today' --on 'note=sh:cat >>notes')

for listen in http://127.0.0.1:0/rpc tcp://127.0.0.1:0 ws://127.0.0.1:0/; do
  start '^\{"listening":' rpcx serve "$listen" "${options[@]}"
  want 0 '{"jsonrpc":"2.0","result":42}
{"jsonrpc":"2.0","result":{"text":"ü€😀"}}
{"jsonrpc":"2.0","error":{"code":-32601,"message":"method not found: nothing"}}
{"code":-32001,"message":"not today"}
[2,4,6,8,10]
[-32601,3]
"nothing came back"' node "$INTEROP/clients/jayson.js" "$(field listening)"
  for _ in {1..1200}; do # waits for the hooks, because stopping the server would not
    if [[ $(grep -c . notes 2>/dev/null) == 2 ]]; then break; fi
    sleep 0.05
  done
  stop
  # Over http and tcp, each request has its own connection, so their order can vary.
  want 0 '{"n":1}
{"n":2}' sort notes
  rm notes
  ok "${listen%%:*}: calls, errors, a batch, notifications"
done

start '^\{"listening":' rpcx serve jsonrpc1+tcp://127.0.0.1:0 "${options[@]}"
endpoint=$(field listening)
want 0 '{"result":42,"error":null}
{"result":["ü€😀"],"error":null}
{"result":null,"error":{"code":-32601,"message":"method not found: nothing"}}
{"code":-32001,"message":"not today"}
[2,4,6,8,10]' node "$INTEROP/clients/jayson.js" "${endpoint#jsonrpc1+}" 1
ok "JSON-RPC 1.0 over tcp: calls, errors"
