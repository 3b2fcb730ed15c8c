#!/usr/bin/env bash
# the acp dialect: an agent and an editor from the official SDK
. "$INTEROP/lib.sh"
needs_packages

agent="acp+exec:node $INTEROP/servers/acp-agent.mjs"
hooks=(--on 'fs/read_text_file=json:{"content":"a text"}' --on 'session/request_permission=jq:{outcome: {outcome: "selected", optionId: .options[0].optionId}}')
want 0 '"you said: fix the test"
"a text: selected yes"
{"stopReason":"end_turn"}' rpcx eval "$agent" 'fix the test' "${hooks[@]}"
want 0 'edit: pending
plan: 1 of 2 done
context: 53000 of 200000 tokens' sh -c "rpcx eval '$agent' 'fix the test' --events \"\$@\" | jq -r 'select(.event == \"progress\").message'" - "${hooks[@]}"
want 0 '{"stopReason":"refusal"}' sh -c "rpcx eval '$agent' refuse | tail -1"
ok "a turn: the agent's messages, tool calls and plans as events, a file and a permission from hooks, the stop reason"

want 0 '["code","web"]' rpcx describe "$agent" -q '.info.extra | [.modes.availableModes[1].id, .commands[0].name]'
want 0 '"one"' rpcx call "$agent" session/list -q '.sessions[0].sessionId'
want 0 '"in one you said: refuse"' sh -c "rpcx eval '$agent' refuse --set session=one | head -1"
ok "modes and commands, the list of sessions, resuming a session"

rpcx eval "$agent" 'be slow' >turn 2>stderr.turn &
turn=$!
started+=("$turn")
until [[ -s turn ]]; do sleep 0.05; done
kill -INT "$turn"
status=0
wait "$turn" || status=$?
want 0 '"you said: be slow"' cat turn
[[ $status -eq 130 ]] || { bad=1; echo "$CASE: status $status, not 130" >&2; }
want 0 'cancelled one' grep '^cancelled' stderr.turn
ok "Ctrl-C cancels the turn"

cat >agent.sh <<'SH'
read -r params
case $params in
  *'be slow'*) echo '"working"'; exec sleep 60 ;;
esac
echo '"Hello"'
rpcx call @ fs/read_text_file sessionId=s path=/a -q .content
echo '{"sessionUpdate":"plan","entries":[]}'
rpcx call @ session/request_permission sessionId=s toolCall:='{"toolCallId":"t"}' options:='[{"optionId":"yes","name":"Yes","kind":"allow_once"}]' -q .outcome.optionId
SH
want 0 'agent 1 rpcx serve
update {"content":{"text":"Hello","type":"text"},"sessionUpdate":"agent_message_chunk"}
update {"content":{"text":"the text of /a","type":"text"},"sessionUpdate":"agent_message_chunk"}
update {"entries":[],"sessionUpdate":"plan"}
update {"content":{"text":"yes","type":"text"},"sessionUpdate":"agent_message_chunk"}
stop end_turn
update {"content":{"text":"working","type":"text"},"sessionUpdate":"agent_message_chunk"}
stop cancelled' node "$INTEROP/clients/acp.mjs" rpcx serve acp+stdio: --on 'session/prompt=lines:sh agent.sh'
want 0 'sessions 2' sh -c "node '$INTEROP/clients/acp.mjs' rpcx serve acp+stdio: --on 'session/prompt=lines:sh agent.sh' \
  --on 'session/list=json:{\"sessions\":[{\"sessionId\":\"a\",\"cwd\":\"/\"},{\"sessionId\":\"b\",\"cwd\":\"/\"}]}' --on 'session/close=json:{}' | grep sessions"
ok "an agent for editors: updates, requests to the editor, cancellation, sessions"

want 0 '{"stopReason":"refusal"}' rpcx eval "$agent broken" refuse
want 0 0 sh -c "timeout 5 node '$INTEROP/clients/acp.mjs' rpcx serve acp+stdio: --on 'session/prompt=json:{\"stopReason\":\"end_turn\"}' | grep -c '^update' || true"
ok "eval ignores updates of another session; a hook without updates sends none"
