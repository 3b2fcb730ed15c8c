#!/usr/bin/env bash
# vscode-jsonrpc as the client of rpcx serve, over stdio and tcp: requests in both directions, notifications, a stream
. "$INTEROP/lib.sh"
needs_packages

cat >catalog.json <<'JSON'
{"catalog":1,"dialect":"jsonrpc","info":{"name":"interop"},"methods":[
  {"name":"add","kind":"call","run":"jq:.[0] + .[1]"},
  {"name":"ticks","kind":"stream","run":"jq:range(.n)"}]}
JSON

# Only one hook for note runs at a time, because the order of the lines would otherwise vary.
options=(
  --catalog catalog.json --hooks catalog.json
  --on 'echo=jq:.'
  --on 'refuse=deny:not today'
  --on 'note=sh:cat >>notes'
  --on 'greet=sh:rpcx call @ whoami - --jq "\"hello, \" + .name + \" at \" + (.asked.hour | tostring)"'
)

shown='42
{"n":1.5,"text":"ü€😀"}
-32601
[-32001,"not today",null]
true
"hello, Ada at 9"
"string"
[0,1,2]'

want 0 "$shown
closed
exit 0" node "$INTEROP/clients/vscode.js" stdio rpcx serve header+stdio: "${options[@]}"
want 0 '{"n":1}
{"n":2}
{"n":3}' cat notes
ok "stdio: requests in both directions, notifications, a stream"

rm notes
start '^\{"listening":' rpcx serve header+tcp://127.0.0.1:0 "${options[@]}"
address=$(field listening)
want 0 "$shown
closed" node "$INTEROP/clients/vscode.js" tcp "${address##*:}"
want 0 '{"n":1}
{"n":2}
{"n":3}' cat notes
ok "tcp: requests in both directions, notifications, a stream"

kill "$server"
status=0
wait "$server" || status=$?
want 0 143 echo "$status"
ok "status 143 after SIGTERM"
