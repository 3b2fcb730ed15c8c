#!/usr/bin/env bash
# ten tasks that an agent solves with unknown servers: at most four commands per task, all described in rpcx help agent
. "$INTEROP/lib.sh"
needs_packages
needs_built gopls golang.org/x/tools/gopls
needs_built geth .
needs jq file
certificate
page=$PWD/page
rpcx help agent >"$page"

commands=0
# run STATUS STDOUT rpcx...: works like want, for a command in a task. rpcx help agent must contain the command and each flag.
run() {
  local word
  commands=$((commands + 1))
  for word in "rpcx $4" "${@:5}"; do
    if [[ $word =~ ^(rpcx|--?)[\ a-z] ]] && ! grep -qwF -e "${word%%=*}" "$page"; then
      bad=1
      echo "$CASE: the agent's page has no $word" >&2
    fi
  done
  want "$@"
  cp stderr errors # the next command overwrites stderr
}

# task TEXT: ends the task that TEXT describes. A task with more than four commands fails.
task() {
  if [[ $commands -gt 4 ]]; then
    bad=1
    echo "$CASE: $commands commands" >&2
  fi
  ok "$1 ($commands commands)"
  commands=0
}

start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
jayson=http://127.0.0.1:$(field http)/
mismatched=ws://127.0.0.1:$(field http)/
websocket=ws://127.0.0.1:$(field ws)/
start '^\{' geth "$PWD/geth.ipc"
ethereum=ws://$(field http)/ws
everything="exec:node $INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js stdio"
tools=mcp+$everything

# The agent starts with an unknown child, and finds its dialect, its methods and their params.
run 0 "$tools" rpcx describe "$everything" --probe -r -q .probe.endpoint
run 0 true rpcx describe "$tools" -q '[.methods[].name] | contains(["echo", "get-sum"])'
run 0 '["a","b"]' rpcx describe "$tools" get-sum -q .params.required
task "discover: the dialect, methods and params of MCP's everything server"

run 2 '' rpcx call "$tools" get-sum a=1 --errors json
want 0 true jq 'select(.error) | .error.message | test("\\bb\\b")' errors
run 0 '"The sum of 1 and 2 is 3."' rpcx call "$tools" get-sum a=1 b=2
run 0 3 rpcx call "$jayson" add 1 2
task "call: MCP's everything server, after its schema rejects a call without a required parameter, and jayson"

run 0 '{"orders":"1.0","rpc":"1.0"}' rpcx call "$ethereum" rpc_modules
run 0 $'0\n1\n2\n3' rpcx subscribe "$ethereum" orders_subscribe '["ticks",0,1]' -q .number --until '.number == 3' --timeout 30s
logged 1 'unsubscribed after some'
task "stream until a condition: go-ethereum, then unsubscribe"

sampled='{"role":"assistant","model":"none","content":{"type":"text","text":"forty-two"}}'
run 0 true rpcx call "$tools" trigger-sampling-request prompt=x --on "sampling/createMessage=json:$sampled" -q 'contains("forty-two")'
cat >answer <<'SH'
#!/bin/sh
jq -c '{role: "assistant", model: "none", content: {type: "text", text: ("asked " + .messages[0].content.text)}}'
SH
chmod 755 answer
run 0 true rpcx call "$tools" trigger-sampling-request prompt=why --on sampling/createMessage=./answer -q 'test("asked .*why")'
task "answer a callback: a constant and a command answer the sampling requests of MCP's everything server"

mkdir project
printf 'module example.com/kept\n\ngo 1.26\n' >project/go.mod
printf 'package kept\n' >project/kept.go
uri=file://$PWD/project/kept.go
open='{"textDocument":{"uri":"'$uri'","languageId":"go","version":1,"text":"package kept\n\nfunc unsaved() {}\n"}}'
cd project
run 0 '' rpcx connect lsp+exec:gopls --session work
run 0 '' rpcx call @work textDocument/didOpen "$open" --notify
run 0 '"unsaved"' rpcx call @work textDocument/documentSymbol "textDocument.uri=$uri" -q '.[].name'
run 0 '' rpcx session close work
cd ..
task "keep state: a session with gopls, with the text of an unsaved file"

run 0 3 rpcx call "$jayson" add 1 2 --expect '. == 3'
run 4 '' rpcx call "$jayson" add 1 2 --expect '. == 4'
said 'the value is 3'
run 0 '{"id":"o_9"}' rpcx call "$jayson" fail --expect-error 4711 -q .data
run 0 '' rpcx validate "$ethereum" --idle 2s
task "assert: jayson's values and errors, go-ethereum's conformance"

# started: starts a task on the server, and prints its id.
started() { rpcx call @jobs tools/call name=simulate-research-query arguments.topic=rpc task.ttl:=60000 -r -q .task.taskId; }
run 0 '' rpcx connect "$tools" --session jobs
commands=$((commands + 1)) job=$(started)
run 0 true rpcx call @jobs tasks/result "taskId=$job" --timeout 60s -q '.content[0].text | contains("Research Report: rpc")'
run 0 '' rpcx session close jobs
task "bounded job: a task on MCP's everything server"

run 124 '' rpcx call "$tools" trigger-long-running-operation duration=60 steps=60 --timeout 3s
run 0 '{"attachmentId":"att-456","status":"done"}' rpcx job run demo:ro attachment.create filename=report.pdf --timeout 60s
task "bounded job: one that exceeds --timeout, and rpcx job with a demo"

cat >calls <<'IN'
{"id":"a","method":"add","params":[1,2]}
{"method":"slow","params":[60]}
{"method":"nothing"}
IN
run 1 '{"id":"a","result":3}
{"id":2,"result":"after 60"}
{"id":3,"error":{"code":-32601,"message":"Method not found"}}' rpcx call "$websocket" --batch --timeout 30s <calls
task "batch: three calls to jayson, one of which fails"

run 0 '["text","image","text"]' rpcx call "$tools" get-tiny-image -q '[.[].type]'
run 0 '' rpcx call "$tools" get-tiny-image -q '.[1].data' --decode base64 -o logo.png
want 0 'PNG image data' sh -c 'file -b logo.png | cut -d, -f1'
task "save a binary: an image from MCP's everything server"

run 3 '' rpcx call "$mismatched" add 1 2 --errors json
jq -r 'select(.error) | .error.fix[]' errors >fix
mapfile -t fix <fix
run 0 3 "${fix[@]}"
run 124 '' rpcx call "exec:node $INTEROP/servers/vscode-bare.js" add 1 2 --timeout 2s -vv
said '^>> '
if grep -q '^<' stderr; then bad=1; fi
run 0 3 rpcx call "header+exec:node $INTEROP/servers/vscode-bare.js" add 1 2 --timeout 30s
task "diagnose a mismatch: the proposed fix works; vscode-jsonrpc does not respond until it gets the right framing"
