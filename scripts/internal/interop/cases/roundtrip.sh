#!/usr/bin/env bash
# the round trip: a tape of a real program replays without a difference, also after --update, and no defect is missed
. "$INTEROP/lib.sh"
needs_packages
needs go
needs_built geth .

# steps NAME TO: the tape NAME.tape against its server, as its server, against itself; then three defects.
steps() {
  local name=$1 to=$2 kind expected
  want 0 '' rpcx replay "$name.tape" --to "$to"
  want 0 '' rpcx replay "$name.tape" --to "tape:$name.tape"
  want 0 '' rpcx replay "$name.tape" --diff "$name.tape"
  want 0 '' rpcx validate "$name.tape" "${rules[@]}"
  for kind in value missing extra; do
    expected=$(node "$INTEROP/clients/mutate.js" "$kind" "$name.tape" broken.tape "${pointer:-}")
    rpcx replay broken.tape --to "$to" --idle 1s >found 2>stderr && status=0 || status=$?
    if [[ $status != 4 ]] || ! grep -qE -- "$expected" found; then
      bad=1
      echo "$CASE: $name, $kind: status $status, wanted 4 and $expected:" >&2
      cut -c 1-300 found stderr >&2
    fi
  done
}

# roundtrip NAME TO LISTEN COMMAND: records what COMMAND, a script, says to TO through LISTEN. It prints the same against the tape.
roundtrip() {
  local name=$1 to=$2 listen=$3 command=$4
  rpcx record "$listen" --to "$to" -o "$name.tape" -- sh -c "$command" >"$name.real" 2>stderr || { bad=1; cat stderr >&2; }
  steps "$name" "$to"
  if [[ -z ${varies:-} ]]; then
    want 0 "$(cat "$name.real")" rpcx replay "$name.tape" --listen "$listen" -- sh -c "$command"
  fi
  rpcx replay "$name.tape" --to "$to" --update >/dev/null 2>stderr || { bad=1; cat stderr >&2; }
  steps "$name" "$to"
  ok "$name"
}
rules=() pointer='' varies=''

certificate
start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
calls='rpcx call @ add 1 2; rpcx call @ echo id=x price:=1.50; rpcx call @ fail 2>/dev/null; rpcx call @ add 3 4; true'
session='rpcx connect @ --session s && rpcx call @s add 1 2; rpcx call @s echo id=x; rpcx call @s add 3 4; rpcx session close s'
roundtrip jayson-http "http://127.0.0.1:$(field http)/" http://127.0.0.1:0/ "$calls"
roundtrip jayson-ws "ws://127.0.0.1:$(field ws)/" ws://127.0.0.1:0/ "$session"
roundtrip jayson-tcp "tcp://127.0.0.1:$(field tcp)" tcp://127.0.0.1:0 "$session"
stop

start 'listening on' node "$INTEROP/servers/rpcws.js"
roundtrip rpcws "rpcws+ws://127.0.0.1:${line##* }/" rpcws+ws://127.0.0.1:0/ \
  'rpcx connect @ --session s && rpcx call @s sum "[3,4]"; rpcx call @s sum "[1,1]"; rpcx session close s'
stop

start '^\{' geth "$PWD/geth.ipc"
pointer=/result/rpc # the result before it is the name of a subscription
roundtrip geth "ws://$(field http)/ws" ws://127.0.0.1:0/ \
  'rpcx subscribe @ orders_subscribe "[\"ticks\",0,1]" --count 2; rpcx call @ rpc_modules'
pointer=''
stop

# Node's inspector is no JSON-RPC 1.0: params are objects, a response has a result or an error, an event no id.
echo 'setInterval(() => {}, 1000)' >program.js
start 'Debugger listening on ws' node --inspect=127.0.0.1:0 program.js
rules=(--disable params-array --disable response-members --disable notification-id)
roundtrip inspector "jsonrpc1+${line##* }" jsonrpc1+ws://127.0.0.1:0/ \
  'rpcx connect @ --session s && rpcx call @s Runtime.evaluate expression="6 * 7" returnByValue:=true --jq .result.value
  rpcx call @s Runtime.evaluate expression="\"a\"" --jq .result.value; rpcx session close s'
rules=()
stop

roundtrip mcp-stdio "mcp+exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js stdio" mcp+unix:m.sock \
  'rpcx connect @ --session s && rpcx call @s echo message=hi --jq ".content[0].text"; rpcx call @s get-sum a:=1 b:=2 --jq ".content[0].text"; rpcx session close s'

# A server that makes up handles and clocks: the first replay lists the clocks, in each place, and nothing else.
cat >made.sh <<'SH'
exec rpcx serve "$1" --on 'open=sh:echo "{\"handle\":\"h-$$\"}"' --on 'use=jq:{ok: (.handle | startswith("h-")), said: "fixed"}' \
  --on 'clock=jq:{n: (now * 1000000 | floor), said: "fixed"}'
SH
start '^\{"listening":' sh made.sh unix:made.sock
rpcx record unix:r.sock --to unix:made.sock -o made.tape -- sh -c 'rpcx connect @ --session s
  h=$(rpcx call @s open --jq .handle -r); rpcx call @s use "handle=$h"; rpcx call @s clock; rpcx call @s use "handle=$h"
  rpcx session close s' >/dev/null 2>&1
rpcx replay made.tape --to unix:made.sock >found 2>/dev/null || true
want 0 1 grep -c . found
want 0 '' rpcx replay made.tape --to unix:made.sock --ignore .result.n
rpcx replay made.tape --to unix:made.sock --update >/dev/null
pointer=/result/said
steps made unix:made.sock
ok "handles and clocks"
