#!/usr/bin/env bash
# the Node.js runtime in scripts/examples with rpcx serve --dialect scomp: bindings, state, errors, cancellation
. "$INTEROP/lib.sh"
needs node

cat >orders.json <<'JSON'
{"catalog":1,"dialect":"scomp","info":{"name":"orders-scomp","version":"0.1.0","extra":{"runtime":{"language":"javascript","engine":"v8"}}},
"methods":[{"name":"getOrder","params":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},
"run":"jq:if .id == \"o_001\" then {id, total: 142.5} else null end"}]}
JSON
start listening rpcx serve scomp+ws://127.0.0.1:0/rt --hooks orders.json --runtime "co:node '$INTEROP/../../examples/runtime.mjs'"
at=$(field listening)

want 0 142.5 rpcx eval "$at" "const o = await getOrder({ id: 'o_001' }); o.total"
quiet
ok "the example of the manual page"

want 0 '"hello, noted"' rpcx eval "$at" 'await notify({ message: "hello" })' --on 'notify=jq:.message + ", noted"'
want 0 '[0,1,4,9]' rpcx eval "$at" 'await Promise.all([0, 1, 2, 3].map((n) => square({ n })))' --on 'square=jq:.n * .n'
want 0 '1000' rpcx eval "$at" 'let n = 0; for (let i = 0; i < 1000; i++) n += await one(); n' --on 'one=json:1'
ok "the client's bindings, in sequence and in parallel"

id=$(rpcx describe "$at" -r -q .info.extra.sessionId)
want 0 41 rpcx eval "$at" --resume "$id" 'x = 41'
want 0 42 rpcx eval "$at" --resume "$id" 'const y = x + 1; y'
want 0 43 rpcx eval "$at" --resume "$id" 'y + 1'
want 1 '' rpcx eval "$at" 'x + 1'
said 'ReferenceError: x is not defined'
ok "variables persist in their session and are not visible in others"

want 1 '' rpcx eval "$at" 'function f() { return undefined.x } f()'
said "EvalError: TypeError: .*at f \(eval:1:[0-9]+\); at eval:1:[0-9]+"
want 1 '' rpcx eval "$at" 'foo'
said 'EvalError: ReferenceError: foo is not defined'
want 1 '' rpcx eval "$at" 'if ('
said 'EvalError: SyntaxError: '
want 1 '' rpcx eval "$at" 'await getOrder({})'
said 'eval: InvokeError: getOrder: .*lacks "id"'
want 0 '-32602' rpcx eval "$at" 'try { await getOrder({}) } catch (e) { code = e.code } code'
ok "errors with stack traces"

want 124 '' rpcx eval "$at" --resume "$id" 'await slow()' --on 'slow=sleep 30' --timeout 300ms
want 0 42 rpcx eval "$at" --resume "$id" 'y'
ok "a timeout ends the eval, and its session remains usable"
