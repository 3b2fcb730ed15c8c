#!/usr/bin/env bash
# Node.js's IPC channel in both directions: rpcx with a Node.js child, and rpcx as a child of Node.js
. "$INTEROP/lib.sh"
needs node

child="ipc:node $INTEROP/servers/ipc-child.js"

want 0 3 rpcx call "$child" add '[1,2]'
want 0 '{"a":"ü \"quoted\" \n","b":[1.5,null]}' rpcx call "$child" echo '{"a":"ü \"quoted\" \n","b":[1.5,null]}'
want 1 '' rpcx call "$child" nothing
said 'no method nothing'
ok "calls and errors"

want 0 '"good morning, Ada!"' \
  rpcx call "$child" greet name=Ada --on 'greeting=jq:if .hour < 12 then "good morning" else "hello" end'
want 0 '[6,2,4]' rpcx call "$child" order '{}' --on 'double=sh:read -r p; p=${p#[}; echo $((2 * ${p%]}))'
want 0 '{"code":-32601}' rpcx call "$child" unanswered '{}' --jq '{code}'
said 'no_such_hook'
ok "hooks answer the child's requests, which use the same ids as rpcx; -32601 without a hook"

# 60,000 numbers are about 350 kB in one message, which is more than a socket can buffer.
seq -s, 60000 | sed 's/^/[/;s/$/]/' >numbers.json
want 0 1800030000 rpcx call "$child" sum - <numbers.json
said 'summed 60000 numbers'
ok "a message larger than the socket's buffer; the child's stdout is printed on stderr"

want 7 '' rpcx call "$child" quit '[5]'
said '5'
want 127 '' rpcx call 'ipc:no-such-program-here' add '[1,2]'
ok "a child that exits during a call, and a program that does not exist"

want 0 '42
called whoami with {"n":1}
-32601
[2,4,6]
exit 0' \
  node "$INTEROP/clients/ipc-parent.js" rpcx serve ipc: --on 'add=jq:.[0] + .[1]' --on 'back=sh:rpcx call @ whoami -'
ok "rpcx as a child of Node.js: calls in both directions"
