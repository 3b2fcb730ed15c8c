#!/usr/bin/env bash
# the dap dialect: VS Code's test client for debug adapters as the client of rpcx serve
. "$INTEROP/lib.sh"
needs_packages

start '^\{"listening":' rpcx serve dap+tcp://127.0.0.1:0 --on 'evaluate=jq:{result: "\(.expression) = 41", variablesReference: 0}' --on 'fails=deny:not today' \
  --on 'launch=( sleep 0.2; rpcx call @ -n stopped reason=breakpoint threadId:=1 ) & echo null' --on 'setVariable=json:{}'
want 0 'capabilities {"supportsCancelRequest":true,"supportsConfigurationDoneRequest":true,"supportsSetVariable":true}
stopped breakpoint
threads main
value x = 41
left' rpcx record dap+tcp://127.0.0.1:0 --to "$(field listening)" -o d.tape -- sh -c "node '$INTEROP/clients/dap.js' \${RPCX_ENDPOINT##*:}"
want 0 '' rpcx validate d.tape --strict
ok "capabilities from the hooks, initialized, launch, an event from a hook, an error, disconnect; no problem on the tape"
