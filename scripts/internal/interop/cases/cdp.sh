#!/usr/bin/env bash
# the dialect cdp: code in Node, by its inspector
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
ok "code, its failures, calls"
