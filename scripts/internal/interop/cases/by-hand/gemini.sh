#!/usr/bin/env bash
# acp with Gemini CLI as the agent, and mcp with Gemini CLI as the host (npm install -g @google/gemini-cli)
. "$INTEROP/lib.sh"
needs node gemini jq

# The case uses none of the user's files, and its prompts go only to the scripted model.
export HOME=$PWD GEMINI_API_KEY=none GEMINI_TELEMETRY_ENABLED=false GEMINI_CLI_TRUST_WORKSPACE=true
mkdir .gemini
settings='"privacy":{"usageStatisticsEnabled":false},"general":{"enableAutoUpdate":false},"security":{"auth":{"selectedType":"gemini-api-key"}}'
echo "{$settings}" >.gemini/settings.json
start 'listening on [0-9]+' node "$INTEROP/servers/gemini-model.mjs" "$PWD"
export GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:${line##* }

agent='acp+exec:gemini --acp'
files=(--on 'fs/read_text_file=json:{"content":""}' --on 'fs/write_text_file=sh:tee -a written >/dev/null; echo null')
allow='session/request_permission=jq:{outcome: {outcome: "selected", optionId: (.options[] | select(.kind == "allow_once").optionId)}}'
reject='session/request_permission=jq:{outcome: {outcome: "selected", optionId: (.options[] | select(.kind == "reject_once").optionId)}}'
# turn is the jq program that prints the messages and the tool calls of a turn.
turn='if type == "string" then . elif .sessionUpdate == "tool_call_update" then [.status, .content[0].type, .content[0].newText] else empty end'

want 0 '"I write it."
["completed","diff","hello\n"]
"It is done."
"end_turn"' rpcx eval "$agent" 'write hello' "${files[@]}" --on "$allow" --timeout 60s -q "$turn"
want 0 "[\"$PWD/hello.txt\",\"hello\\n\"]" jq -c '[.path, .content]' written
ok "a turn: the agent requests a permission, and the editor reads and writes the file"

want 0 '"I write it."
"It was refused."
"end_turn"' rpcx eval "$agent" 'write hello' "${files[@]}" --on "$reject" --timeout 60s -q "$turn"
want 0 1 grep -c hello.txt written
ok "a rejected permission"

rpcx connect "$agent" --session g "${files[@]}" --on "$allow" --timeout 60s
rpcx eval @g 'be slow' -q "$turn" >turn 2>stderr.turn &
slow=$!
started+=("$slow")
until [[ -s turn ]]; do sleep 0.05; done
kill -INT "$slow"
status=0
wait "$slow" || status=$?
[[ $status -eq 130 ]] || { bad=1; echo "$CASE: status $status, not 130" >&2; }
want 0 '"I think"' cat turn
want 0 '"I write it."
["completed","diff","hello\n"]
"It is done."
"end_turn"' rpcx eval @g 'write it again' --timeout 60s -q "$turn"
rpcx session close g
ok "a session: Ctrl-C cancels a turn, and the next one succeeds"

mkdir tools
cat >tools/greet <<'SH'
#!/bin/sh
sed 's/.*"name":"\([^"]*\)".*/"Hello, \1"/'
SH
chmod +x tools/greet
echo "{$settings,\"mcpServers\":{\"shell\":{\"command\":\"rpcx\",\"args\":[\"serve\",\"mcp+stdio:\",\"--hooks\",\"tools\"],\"trust\":true}}}" >.gemini/settings.json
want 0 'I greet.
Hello, Ada' gemini --prompt 'greet Ada' --approval-mode yolo
ok "Gemini CLI calls a tool in a directory of shell scripts"
