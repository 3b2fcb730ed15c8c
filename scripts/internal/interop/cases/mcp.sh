#!/usr/bin/env bash
# the mcp dialect: the official everything server as the peer, and the official client with a directory of scripts
. "$INTEROP/lib.sh"
needs_packages
needs jq

everything=$INTEROP/node_modules/@modelcontextprotocol/server-everything/dist/index.js
sampled='{"role":"assistant","model":"none","content":{"type":"text","text":"sampled"}}'

# client ENDPOINT: calls the server's tools.
client() {
  want 0 '"Echo: hi"' rpcx call "$1" echo message=hi
  want 0 '"The sum of 1 and 2 is 3."' rpcx call "$1" get-sum a=1 b=2
  want 2 '' rpcx call "$1" get-sum a=1
  said 'lacks "b"'
  want 1 '' rpcx call "$1" get-summ a:=1
  said 'get-summ: .*not found'
  want 0 $'{"event":"progress","message":"","fraction":0.5}\n{"event":"progress","message":"","fraction":1}\n{"event":"data","data":"Long running operation completed. Duration: 1 seconds, Steps: 2."}' \
    rpcx call "$1" trigger-long-running-operation duration=1 steps=2 --events
  want 0 true rpcx call "$1" trigger-sampling-request prompt=x --on "sampling/createMessage=json:$sampled" -q 'contains("sampled")'
  want 0 '["echo","get-sum"]' rpcx describe "$1" -q '[.methods[].name | select(. == "echo" or . == "get-sum")]'
  want 0 '["demo://resource/dynamic/blob/{resourceId}","demo://resource/dynamic/text/{resourceId}"]' \
    rpcx describe "$1" resources/read -q '[.extra.resourceTemplates[].uriTemplate] | sort'
  want 0 '["temperature","conditions","humidity"]' rpcx describe "$1" get-structured-content -q '.result.required'
  want 0 true rpcx call "$1" get-structured-content location=Chicago -q 'has("temperature")'
  want 0 true rpcx job run "$1" simulate-research-query topic=python ambiguous:=true -q 'contains("python (snakes)")' \
    --on 'elicitation/create=json:{"action":"accept","content":{"interpretation":"snakes"}}'
  want 0 true rpcx call "$1" trigger-sampling-request-async prompt=x --on "sampling/createMessage=json:$sampled" -q 'contains("[COMPLETED]") and contains("sampled")'
  want 0 '["- Name: Ada"]' rpcx call "$1" trigger-elicitation-request-async -q '[.[1].text | match("- Name: .*").string]' \
    --on 'elicitation/create=json:{"action":"accept","content":{"name":"Ada"}}'
  want 0 true rpcx call "$1" trigger-sampling-request-async prompt=x --on 'sampling/createMessage=sh:echo no model >&2; exit 3' -q 'contains("failed - no model")'
}

client "mcp+exec:node $everything stdio"
ok "stdio: typed calls, progress, sampling, structured content, a task that elicits input, the server's requests as tasks of the client, describe"

port=$(free_port)
start 'listening on port|listening' env PORT="$port" node "$everything" streamableHttp
reachable "$port"
client "mcp+http://127.0.0.1:$port/mcp"
ok "streamable HTTP: the checks of stdio"
stop

mkdir tools
cat >tools/echo <<'SH'
#!/bin/sh
exec jq -c '"Echo: " + .message'
SH
cat >tools/sample <<'SH'
#!/bin/sh
rpcx call @ sampling/createMessage messages:='[{"role":"user","content":{"type":"text","text":"x"}}]' maxTokens:=5 -q .content.text
SH
chmod 755 tools tools/echo tools/sample
echo '{"description":"Says it","params":{"type":"object","required":["message"],"properties":{"message":{"type":"string"}}}}' >tools/echo.json
cat >wanted.client <<'JSON'
"rpcx serve"
["dig","echo","long-running","sample"]
[{"type":"text","text":"Echo: hi"}]
[{"type":"text","text":"done"}]
[0.25,0.5]
[{"type":"text","text":"sampled"}]
"working"
{"found":2}
-32602
JSON
echo '{"catalog":1,"methods":[{"name":"dig","kind":"job","params":{"type":"object"},"run":"jq:{found: .deep}"}]}' >dig.json
steps='for f in 0.25 0.5 0.75; do echo "{\"progress\":\"on\",\"fraction\":$f}"; sleep 0.1; done; echo "\"done\""'
want 0 "$(cat wanted.client)" node "$INTEROP/clients/mcp.mjs" rpcx serve mcp+stdio: --hooks tools --hooks dig.json --on "long-running=lines:$steps"
ok "a directory of scripts as a server for the official client, stdio: tools, progress, sampling by a hook, a tool as a task, an unknown tool"

start listening rpcx serve mcp+http://127.0.0.1:0/mcp --hooks tools --hooks dig.json --on "long-running=lines:$steps"
at=$(field listening)
sed -e 1d -e '$d' wanted.client >wanted.http
want 0 "$(cat wanted.http)" node "$INTEROP/clients/mcp-http.mjs" "${at#mcp+}"
ok "a directory of scripts as a server for the official client, streamable HTTP"
