#!/usr/bin/env bash
# the rpcws dialect: the server and the client from rpc-websockets
. "$INTEROP/lib.sh"
needs_packages

start 'listening on' node "$INTEROP/servers/rpcws.js"
at=rpcws+ws://127.0.0.1:${line##* }/
want 0 7 rpcx call "$at" sum '[3,4]'
want 1 '' rpcx call "$at" fails
said 'no'
want 1 '' rpcx call "$at" rpc.on '["nosuch"]'
said 'nosuch: provided event invalid'
want 0 '"fire"' rpcx describe "$at" -q '.methods[].name | select(. == "fire")'
want 0 '[1]
[1]' rpcx subscribe "$at" rpc.on '["tick"]' --on-open 'sleep 0.5; rpcx call @ fire; rpcx call @ fire' --count 2
ok "client: calls, errors, the server's methods, events"

start '^\{"listening":' rpcx serve rpcws+ws://127.0.0.1:0/ --on 'sum=jq:add' --on 'name=jq:.first' --on 'fire=rpcx call @ -n tick "[1,\"x\"]" && echo 1'
want 0 'sum 7
named Ada
refused -32601
methods true
tick [1,"x"]
ended' node "$INTEROP/clients/rpcws.js" "$(field listening | sed 's/^rpcws+//')"
ok "server: calls, methods, an event that a hook sends"
stop
start '^\{"listening":' rpcx serve rpcws+ws://127.0.0.1:0/ --on 'sum=jq:add' --on 'name=jq:.first' --on 'fire=json:1' --on 'tick=lines:echo "[1,\"x\"]"; exec sleep 60'
want 0 'sum 7
named Ada
refused -32601
methods true
tick [1,"x"]
ended' node "$INTEROP/clients/rpcws.js" "$(field listening | sed 's/^rpcws+//')"
ok "server: an event from a stream's hook"
