#!/usr/bin/env bash
# the a2a dialect: an agent and a client from the official SDK
. "$INTEROP/lib.sh"
needs_packages

start '^http' node "$INTEROP/servers/a2a-agent.mjs"
E=a2a+$line
message='message:={"messageId":"m","role":"ROLE_USER","parts":[{"text":"b"}]}'
want 0 'Counter' rpcx describe "$E" -r -q .info.name
want 0 '"hello"' rpcx eval "$E" hi
want 0 '{"event":"progress","message":"submitted"}
{"event":"progress","message":"working: counting"}
{"event":"data","data":"a 1\n"}
{"event":"data","data":"a 2\n"}
{"event":"data","data":"a 3\n"}' sh -c "rpcx eval '$E' a --events | head -5"
ok "describe reads the agent card; eval prints states and artifacts as they arrive"

want 1 '' rpcx eval "$E" ask --errors json
said 'TASK_STATE_INPUT_REQUIRED.*"taskId"'
want 1 '' rpcx eval "$E" fail
said 'it broke'
want 0 '["task","statusUpdate","artifactUpdate","artifactUpdate","artifactUpdate","artifactUpdate","statusUpdate"]' \
  sh -c "rpcx subscribe '$E' SendStreamingMessage '$message' -q 'keys[0]' | jq -cs ."
want 0 '"TASK_STATE_COMPLETED"' rpcx job run "$E" SendMessage "$message" --save files -q .status
want 0 'PNG' sh -c 'cat files/a.png; echo'
job=$(rpcx job start "$E" SendMessage 'message:={"messageId":"m","role":"ROLE_USER","parts":[{"text":"slow"}]}' -r -q .job)
want 0 '"TASK_STATE_CANCELED"' rpcx job cancel "$E" "$job" -q .status
want 0 '"TASK_STATE_CANCELED"' rpcx job status "$E" "$job" -q .status
want 0 'a2a' sh -c "rpcx describe '${line}/rpc' --probe -r -q .dialect"
ok "failures, subscriptions, jobs with files, cancellation, detection"

start '^http' node "$INTEROP/servers/a2a-agent.mjs" cut
want 5 '' sh -c "rpcx eval 'a2a+$line' a >/dev/null"
ok "status 5 if a stream ends before its task"

cat >agent.sh <<'SH'
read -r params
case $params in *'"text":"slow"'*) exec sleep 60 ;; esac
echo '"one"'
echo '{"state":"working","text":"almost"}'
echo '{"n":3}'
SH
start '"listening"' rpcx serve a2a+http://127.0.0.1:0/ --on 'message=lines:sh agent.sh'
at=$(field listening)
want 0 'card rpcx serve true
event task TASK_STATE_SUBMITTED
event statusUpdate TASK_STATE_WORKING
event artifactUpdate ["one\n"]
event statusUpdate TASK_STATE_WORKING
event artifactUpdate [{"n":3}]
event statusUpdate TASK_STATE_COMPLETED
get TASK_STATE_COMPLETED 2 2
send TASK_STATE_COMPLETED
started TASK_STATE_SUBMITTED
cancel TASK_STATE_CANCELED
error JsonRpcTaskNotFoundError
error -32004
list 2 3 true' node "$INTEROP/clients/a2a.mjs" "${at#a2a+}"
ok "a shell script as the agent: streams, tasks, cancellation, errors, lists"

start '"listening"' rpcx serve a2a+http://127.0.0.1:0/ --on 'message=lines:sh agent.sh' --on 'GetTask=json:{}'
at=$(field listening)
want 1 '' sh -c "node '$INTEROP/clients/a2a.mjs' '${at#a2a+}' >/dev/null 2>&1"
ok "the client detects a planted defect in the agent"
