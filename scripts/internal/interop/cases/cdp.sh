#!/usr/bin/env bash
# the cdp dialect: evaluation in Node's inspector, and a client with sessions
. "$INTEROP/lib.sh"
needs node

start 'Debugger listening on' node --inspect=127.0.0.1:0 -e 'setTimeout(() => {}, 60000)'
at=cdp+${line##* }
want 0 2 rpcx eval "$at" '1 + 1'
want 0 '{"a":[1,"x"]}' rpcx eval "$at" '({a: [1, await Promise.resolve("x")]})'
want 1 '' rpcx eval "$at" 'throw new TypeError("no")'
said 'TypeError: no'
want 1 '' rpcx call "$at" No.such
said "wasn't found"
want 0 true rpcx call "$at" Runtime.getHeapUsage -q '.usedSize > 0'
ok "evaluation, an exception, calls"

http=cdp+http://${at#cdp+ws://}
http=${http%/*}
want 0 42 rpcx eval "$http" '6 * 7'
want 0 true rpcx describe "$http" -q '.methods | map(.name) | index("Runtime.evaluate") != null and index("Debugger.paused") != null'
want 0 '"array"' rpcx describe "$http" Runtime.getProperties -q '.result.properties.result.type'
want 0 '"Runtime.executionContextCreated"' rpcx subscribe "$http" Runtime.enable --count 1 -q .method
ok "the WebSocket's URL from HTTP, the catalog, the events of a domain"

needs_packages
want 0 'paused 41
value 42
profile true
refused -32601
refused -32602' rpcx record cdp+ws://127.0.0.1:0/ --to "$at" -o n.tape -- sh -c "node '$INTEROP/clients/inspector.js' \${RPCX_ENDPOINT#cdp+}"
want 0 '' rpcx validate n.tape --strict
sed '0,/"result":{/s//"result":1,"was":{/' n.tape >defect.tape
rpcx validate defect.tape >lines || true
want 0 'must result' broken lines
ok "a debugger's conversation has no problem; validate detects a planted result that is a number"

start '^\{"listening":' rpcx serve cdp+ws://127.0.0.1:0/ --on 'Target.attachToTarget=jq:{sessionId: "S-\(.targetId)"}' \
  --on 'Runtime.enable=rpcx call @ -n Runtime.consoleAPICalled type=log --set "sessionId=S-p" && echo {}' \
  --on 'Runtime.evaluate=jq:{result: {type: "string", value: .expression}}'
want 0 'typed function
version rpcx serve
told {"type":"log"}
value {"result":{"type":"string","value":"6*7"}}
refused -32601' node "$INTEROP/clients/cdp.js" "$(field listening | sed 's/^cdp+//')"
ok "as a server: its WebSocket's URL over HTTP, the methods of its hooks, a client's flat sessions"
