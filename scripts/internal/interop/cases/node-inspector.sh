#!/usr/bin/env bash
# Node.js's inspector over ws: a protocol without the member "jsonrpc"
. "$INTEROP/lib.sh"
needs node

cat >program.js <<'JS'
let tick = 0;
setInterval(() => console.log('tick', ++tick), 20);
JS
ulimit -c 0
start 'Debugger listening on ws' node --inspect=127.0.0.1:0 program.js
inspector=jsonrpc1+${line##* }

want 0 42 rpcx call "$inspector" Runtime.evaluate expression='6 * 7' returnByValue:=true --jq .result.value
want 0 "$(node --version)" rpcx call "$inspector" Runtime.evaluate expression=process.version -r --jq .result.value
want 0 '{"a":[1,2,{"b":null}]}' \
  rpcx call "$inspector" Runtime.evaluate '{"expression":"({a: [1, 2, {b: null}]})","returnByValue":true}' --jq .result.value
ok "Runtime.evaluate: a number, a string, an object"

cdp=cdp+${inspector#*+}
want 0 5 rpcx eval "$cdp" 'Promise.resolve(5)'
want 0 6 rpcx eval "$cdp" 'await Promise.resolve(6)'
want 0 7 rpcx eval "$cdp" 'let n = 7; n'
want 0 8 rpcx eval "$cdp" 'let n = 8; n'
ok "eval awaits promises, and accepts await and repeated declarations"

want 1 '' rpcx call "$inspector" No.such
said "No.such' wasn't found"
want 4 '' rpcx call "$inspector" Runtime.evaluate expression='throw new Error("no")' --expect '.exceptionDetails == null' --jq empty
ok "an unknown method fails; an expectation detects an exception that the protocol reports as a result"

want 0 'tick
tick
tick' rpcx subscribe "$inspector" Runtime.enable --method Runtime.consoleAPICalled --jq '.args[0].value' -r --count 3
ok "a subscription to console events"

want 0 '{"id":7,"result":{}}' rpcx call "$inspector" --send '{"id":7,"method":"Runtime.disable"}' --messages
ok "--send keeps the id of the message"

want 7 '' rpcx call "$inspector" Runtime.evaluate expression='process.abort()'
ok "status 7 if the peer exits during a call"
