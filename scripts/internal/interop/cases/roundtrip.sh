#!/usr/bin/env bash
# the round trip: replaying a real program's tape finds no difference, and finds each planted defect
. "$INTEROP/lib.sh"
needs_packages
needs go
needs_built geth .
needs_built gopls golang.org/x/tools/gopls

# Each line is NAME | PEER | LISTEN | COMMANDS. The script COMMANDS uses the endpoint PEER through rpcx record. PEER can also be a
# function that starts the peer and sets $to. The case replays the tape with the peer, as the peer, and with the tape itself. It
# then plants three defects, and repeats all steps after --update. flags prints the settings of a pair:
#   rules=FLAGS   rules that validate ignores because the peer is known to violate them
#   at=POINTER    the value to change, if the first value of a result is generated
#   idle=TIME     how long replay waits for messages that the tape lacks
session() { echo "rpcx connect @ --session s && { $1; rpcx session close s; }"; }
numbers=$(session 'rpcx call @s add 1 2; rpcx call @s echo id=x price:=1.50; rpcx call @s fail 2>/dev/null; rpcx call @s add 3 4')
calls='rpcx call @ add 1 2; rpcx call @ echo id=x price:=1.50; rpcx call @ fail 2>/dev/null; rpcx call @ add 3 4; true'
everything="node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
tools='rpcx call @s echo message=hi; rpcx call @s get-sum a:=1 b:=2'
asks='--on sampling/createMessage="json:{\"role\":\"assistant\",\"model\":\"none\",\"content\":{\"type\":\"text\",\"text\":\"sampled\"}}"'
ticks='rpcx subscribe @ orders_subscribe "[\"ticks\",0,40]" --count 2; rpcx call @ rpc_modules; rpcx call @ orders_fail 2>/dev/null; true'
initialize='{"processId":null,"rootUri":null,"capabilities":{}}'

jayson() {
  start '^\{' node "$INTEROP/servers/jayson.js" ../cert.pem ../key.pem
  case $1 in
    http) to=http://127.0.0.1:$(field http)/ ;;
    ws) to=ws://127.0.0.1:$(field ws)/ ;;
    v1) to=jsonrpc1+tcp://127.0.0.1:$(field v1) ;;
    tls) to=tls://127.0.0.1:$(field tls) ;;
    *) to=tcp://127.0.0.1:$(field tcp) ;;
  esac
}
rpcws() { start 'listening on' node "$INTEROP/servers/rpcws.js"; to=rpcws+ws://127.0.0.1:${line##* }/; }
geths() {
  start '^\{' geth "$PWD/geth.ipc"
  case $1 in
    ws) to=ws://$(field http)/ws ;;
    http) to=http://$(field http)/ ;;
    *) to=concat+unix:$PWD/geth.ipc ;;
  esac
}
inspector() {
  echo 'setInterval(() => {}, 1000)' >program.js
  start 'Debugger listening on ws' node --inspect=127.0.0.1:0 program.js
  to=$1+${line##* }
}
arith() {
  (cd "$INTEROP/netrpc" && go build -o "$OLDPWD/netrpc" .)
  start '"port"' ./netrpc
  to=netrpc+tcp://127.0.0.1:$(field port)
}
mcp_http() {
  local port
  port=$(free_port)
  PORT=$port start 'listening on port' node "$INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp
  to=mcp+http://127.0.0.1:$port/mcp
}
mcp_modern() {
  start '^\{"listening":' rpcx serve mcp+http://127.0.0.1:0/mcp --on 'echo=jq:.'
  to=$(field listening)
}
# The status of a job has its progress in percent. The client polls it.
hotrepl_progress() {
  cat >slow.sh <<'EOF'
for n in 1 2 3 4 5 6; do echo "{\"progress\":\"part $n\",\"fraction\":0.$n}"; sleep 0.1; done; echo '{"data":{"n":1}}'
EOF
  echo '{"catalog":1,"methods":[{"name":"slow","kind":"job","params":{"type":"object"},"result":{"type":"object"}}]}' >jobs.json
  start '^\{"listening":' rpcx serve hotrepl+ws://127.0.0.1:0/ --catalog jobs.json --on 'slow=lines:sh slow.sh'
  to=$(field listening)
}
# This hook responds like electrum: for an unknown method, the HTTP status is 500 and the body is text.
electrum() {
  cat >electrum.js <<'JS'
require('http').createServer((q, r) => {
  let body = '';
  q.on('data', (d) => { body += d; }).on('end', () => {
    const { id, method, params } = JSON.parse(body);
    if (method !== 'add') { r.writeHead(500, { 'Content-Type': 'text/plain' }); r.end('Invalid Request'); return; }
    r.setHeader('Content-Type', 'application/json');
    r.end(JSON.stringify({ jsonrpc: '2.0', id, result: params[0] + params[1] }));
  });
}).listen(0, '127.0.0.1', function () { console.log('port', this.address().port); });
JS
  start '^port' node electrum.js
  to=http://127.0.0.1:${line##* }/
}
# The server generates handles and tokens that the client sends back, a clock, and a serial number that never repeats.
made() {
  start '^\{"listening":' rpcx serve "$1" --on 'open=sh:echo "{\"handle\":\"h-$$\",\"said\":\"fixed\"}"' --on 'use=jq:{ok: (.handle | startswith("h-"))}' \
    --on 'login=sh:echo "{\"token\":\"t-$$\",\"ok\":true}"' --on 'whoami=jq:{ok: (.token | startswith("t-"))}' \
    --on 'clock=jq:{n: (now * 1000000 | floor), list: [{serial: "s-\(now)"}], said: "fixed"}'
  to=$(field listening)
}
makes=$(session 'h=$(rpcx call @s open -q .handle -r); rpcx call @s use handle=$h; t=$(rpcx call @s login -q .token -r); rpcx call @s whoami token=$t; rpcx call @s clock -q .said')

pairs() {
  cat <<TABLE
jayson-http | jayson http | http://127.0.0.1:0/ | $calls
jayson-tcp | jayson tcp | tcp://127.0.0.1:0 | $numbers
jayson-ws | jayson ws | ws://127.0.0.1:0/ | $numbers
jayson-v1 | jayson v1 | jsonrpc1+tcp://127.0.0.1:0 | $numbers
jayson-unix | jayson tcp | unix:r.sock | $numbers
jayson-http-ws | jayson ws | http://127.0.0.1:0/ | $calls
rpcws | rpcws | rpcws+ws://127.0.0.1:0/ | $(session 'rpcx call @s sum "[3,4]"; rpcx call @s fire; rpcx call @s sum "[1,1]"')
vscode | header+exec:node $INTEROP/servers/vscode-bare.js | header+unix:r.sock | $(session 'rpcx call @s add 1 2; rpcx call @s add 3 4')
vscode-json | lsp+exec:node $INTEROP/node_modules/.bin/vscode-json-languageserver --stdio | lsp+unix:r.sock | $(session 'rpcx call @s -n textDocument/didOpen "{\"textDocument\":{\"uri\":\"file:///b.json\",\"languageId\":\"json\",\"version\":1,\"text\":\"{\\\"a\\\":1}\"}}"; rpcx call @s textDocument/documentSymbol textDocument.uri=file:///b.json -q ".[].name"')
gopls | lsp+exec:gopls | lsp+unix:r.sock | rpcx call @ initialize --jq .serverInfo.name '$initialize'
ipc | ipc:node $INTEROP/servers/ipc-child.js | tcp://127.0.0.1:0 | $(session 'rpcx call @s add "[1,2]"; rpcx call @s echo id=x; rpcx call @s nothing 2>/dev/null; rpcx call @s add "[3,4]"')
ipc-back | ipc:node $INTEROP/servers/ipc-child.js | unix:r.sock | rpcx call @ greet name=Ada --on 'greeting=json:"good morning"'
inspector | inspector jsonrpc1 | jsonrpc1+ws://127.0.0.1:0/ | $(session 'rpcx call @s Runtime.evaluate expression="6 * 7" returnByValue:=true --jq .result.value; rpcx call @s Runtime.evaluate expression="\"a\"" --jq .result.value')
cdp | inspector cdp | cdp+ws://127.0.0.1:0/ | $(session 'rpcx call @s Runtime.evaluate expression="6 * 7" returnByValue:=true --jq .result.value; rpcx call @s Runtime.evaluate expression="\"a\"" --jq .result.value')
geth-ws | geths ws | ws://127.0.0.1:0/ | $ticks
geth-http | geths http | http://127.0.0.1:0/ | rpcx call @ orders_add 1 2; rpcx call @ orders_fail 2>/dev/null; rpcx call @ orders_add 3 4; true
geth-ipc | geths ipc | concat+unix:r.sock | $ticks
netrpc | arith | netrpc+tcp://127.0.0.1:0 | $(session 'rpcx call @s Arith.Multiply A:=7 B:=8; rpcx call @s Arith.Divide A:=1 B:=0 2>/dev/null; rpcx call @s Arith.Multiply A:=1 B:=8')
mcp-stdio | mcp+exec:$everything stdio | mcp+unix:r.sock | $(session "$tools")
mcp-roots | mcp+exec:$everything stdio | mcp+unix:r.sock | rpcx call @ echo message=hi --on 'roots/list=json:{"roots":[{"uri":"file:///a"}]}'
mcp-progress | mcp+exec:$everything stdio | mcp+unix:r.sock | rpcx call @ trigger-long-running-operation duration:=1 steps:=2; rpcx call @ echo message=hi
mcp-http | mcp_http | mcp+http://127.0.0.1:0/mcp | $(session "$tools")
mcp-sampling | mcp+exec:$everything stdio | mcp+unix:r.sock | rpcx call @ trigger-sampling-request prompt=hi $asks -q .
mcp-http-sampling | mcp_http | mcp+http://127.0.0.1:0/mcp | rpcx call @ trigger-sampling-request prompt=hi $asks -q .
mcp-http-roots | mcp_http | mcp+http://127.0.0.1:0/mcp | rpcx call @ trigger-long-running-operation duration:=1 steps:=2 --on 'roots/list=json:{"roots":[{"uri":"file:///a"}]}'
mcp-modern | mcp_modern | mcp+http://127.0.0.1:0/mcp | $(session 'rpcx call @s echo x=1; rpcx call @s echo x=2')
hotrepl-progress | hotrepl_progress | hotrepl+ws://127.0.0.1:0/ | rpcx job run @ slow -q .output
acp | acp+exec:node $INTEROP/servers/acp-agent.mjs | acp+unix:r.sock | rpcx eval @ 'fix the test' --on 'fs/read_text_file=json:{"content":"a text"}' --on 'session/request_permission=jq:{outcome: {outcome: "selected", optionId: .options[0].optionId}}'
electrum | electrum | http://127.0.0.1:0/ | rpcx call @ add 1 2; rpcx call @ nosuch 2>/dev/null; rpcx call @ add 3 4; true
hotrepl | demo:hotrepl | hotrepl+ws://127.0.0.1:0/ | rpcx job run @ archive.export -q .output; rpcx eval @ '1 + 1'
scriptling | demo:scriptling | scriptling+unix:r.sock | rpcx plugin call @ greet Ada
made | made unix:made.sock | unix:r.sock | $makes
made-mcp | made mcp+http://127.0.0.1:0/mcp | mcp+http://127.0.0.1:0/mcp | $makes
made-scomp | made scomp+tcp://127.0.0.1:0 | scomp+tcp://127.0.0.1:0 | $makes
made-hotrepl | made hotrepl+ws://127.0.0.1:0/ | hotrepl+ws://127.0.0.1:0/ | $makes
TABLE
}

# flags NAME: prints the flags of the pair NAME.
flags() {
  rules=() at='' idle=2s
  case $1 in
    gopls) idle=8s ;; # it sends some messages long after its response
    inspector) rules=(--disable params-array --disable response-members --disable notification-id) ;;
    jayson-v1) rules=(--disable params-array --disable response-members --disable notification-answered) ;;
    mcp-http | mcp-http-sampling | mcp-http-roots) rules=(--disable response-id-null) ;; # the response to server/discover has the id null
    electrum) rules=(--disable json) ;;
    geth-ws | geth-ipc) at=/result/rpc ;;
    made) at=/result/said ;;
    made-mcp) at=/result/structuredContent/said rules=(--disable response-id-null) ;;
    made-scomp) at=/result/value/said ;;
    made-hotrepl) at=/output/said ;;
  esac
}

# differs COMMAND...: COMMAND must exit with status 4 because of the defect $kind, and print $pattern.
differs() {
  local status=0
  timeout --kill-after=5 30 "$@" >found 2>&1 || status=$?
  if [[ $status != 4 ]] || ! grep -qE -- "$pattern" found; then
    bad=1
    echo "$CASE: $pair, $kind: status $status, wanted 4 and $pattern:" "${@:1:5}" >&2
    cut -c 1-300 found >&2
  fi
}

# steps: replays the tape with its peer, as its peer, and with itself, and then tests each defect in each direction.
steps() {
  local kind pattern printed
  printed=$(cat real)
  want 0 '' rpcx replay p.tape --to "$to"
  want 0 '' rpcx replay p.tape --to tape:p.tape
  want 0 '' rpcx replay p.tape --diff p.tape
  want 0 '' sh -c 'rpcx validate p.tape "$@" | grep -v "\"level\":\"should\"" || true' - "${rules[@]}"
  want 0 "$printed" timeout 120 rpcx replay p.tape --listen "$listen" -- sh -c "$commands"
  want 0 "$printed" timeout 120 env RPCX_ENDPOINT=tape:p.tape sh -c "$commands"
  while read -r kind pattern; do
    differs rpcx replay "$kind.tape" --diff p.tape
    case $kind in
      asked | more) differs rpcx replay "$kind.tape" --listen "$listen" -- sh -c "$commands; true" ;;
      *)
        differs rpcx replay "$kind.tape" --to "$to" --idle "$idle"
        differs rpcx replay "$kind.tape" --to tape:p.tape --idle 1s
        ;;
    esac
  done < <(node "$INTEROP/clients/mutate.js" p.tape "$at")
}

# bound: prints the line and the pointer of each bound value on the tape.
bound() {
  node -e 'require("fs").readFileSync("p.tape", "utf8").trimEnd().split("\n").forEach((line, i) => {
    for (const path of Object.values(JSON.parse(line).bind ?? {})) console.log(`${i + 1} ${path.replace(/\[(\d+)\]/g, ".$1").replaceAll(".", "/")}`);
  })' | sort
}

# roundtrip PAIR PEER LISTEN COMMANDS: tests a pair in its own directory.
roundtrip() {
  pair=$1 to=$2 listen=$3 commands=$4
  flags "$pair"
  if [[ $(type -t "${to%% *}") == function ]]; then
    # shellcheck disable=SC2086
    $to
  fi
  rpcx record "$listen" --to "$to" -o p.tape -- sh -c "$commands" >real 2>stderr || { bad=1; cat stderr >&2; }
  if [[ $pair == made* ]]; then # the first replay reports the values that never recur, but no handles or tokens
    rpcx replay p.tape --to "$to" >found 2>/dev/null || true
    want 0 2 grep -cE '"pointer":"[^"]*/(n|serial)"' found
    want 1 0 grep -cE '"pointer":"[^"]*/(handle|token)"' found
    rpcx replay p.tape --to "$to" --update >/dev/null 2>&1
    want 0 "$(sed 's/.*"line":\([0-9]*\),.*"pointer":"\([^"]*\)".*/\1 \2/' found | sort)" bound
  fi
  steps
  cp p.tape before.tape
  rpcx replay p.tape --to "$to" --update >/dev/null 2>stderr || { bad=1; cat stderr >&2; }
  want 0 '' cmp before.tape p.tape
  steps
}

certificate
# Eight pairs run at a time, because they mostly wait for messages that do not arrive.
at_once=8
one() {
  mkdir "$1"
  cd "$1"
  started=() bad=0 failed=0
  export XDG_STATE_HOME=$PWD/state XDG_CACHE_HOME=$PWD/cache XDG_RUNTIME_DIR=$PWD/run
  mkdir -m 0700 "$XDG_RUNTIME_DIR"
  roundtrip "$@" >said 2>&1 || bad=1
  ok "$1" >>said
}
running=0
while IFS= read -r row; do
  name=${row%% | *} row=${row#* | }
  peer=${row%% | *} row=${row#* | }
  listen=${row%% | *}
  if [[ -n ${ONLY:-} && " $ONLY " != *" $name "* ]]; then continue; fi
  if ((running == at_once)); then wait -n || failed=1; running=$((running - 1)); fi
  (trap finish EXIT; one "$name" "$peer" "$listen" "${row#* | }") </dev/null &
  running=$((running + 1))
done < <(pairs)
for ((; running > 0; running--)); do wait -n || failed=1; done
for said in */said; do cat "$said"; done
