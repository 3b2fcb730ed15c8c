#!/bin/sh
# The client for the suite's scenarios. The argument is the URL of the scenario's server.
at=mcp+$1
accepts='elicitation/create=json:{"action":"accept","content":{"confirmed":true}}'
case $MCP_CONFORMANCE_SCENARIO in
initialize | json-schema-ref-no-deref | request-metadata) exec rpcx describe "$at" --on "$accepts" --on 'roots/list=json:{"roots":[]}' --on 'sampling/createMessage=json:{}' ;;
tools_call) exec rpcx call "$at" add_numbers a=5 b=3 ;;
elicitation-sep1034-client-defaults) # fields that the user leaves empty keep their defaults
  exec rpcx call "$at" test_client_elicitation_defaults --on 'elicitation/create=json:{"action":"accept","content":{}}'
  ;;
sse-retry) exec rpcx call "$at" test_reconnection ;;
sep-2322-client-request-state)
  for tool in test_mrtr_echo_state test_mrtr_no_state test_mrtr_unrelated test_mrtr_no_result_type; do
    echo "{\"method\":\"$tool\",\"params\":{}}"
  done | rpcx call "$at" --batch --on "$accepts"
  ;;
http-standard-headers)
  rpcx describe "$at" && rpcx call "$at" my-hyphenated-tool && rpcx call "$at" prompts/get name=test_prompt &&
    rpcx call "$at" resources/read uri=file:///path/to/file%20name.txt
  ;;
http-custom-headers | http-invalid-tool-headers)
  if [ "$MCP_CONFORMANCE_SCENARIO" = http-invalid-tool-headers ]; then # calls each tool in the list
    MCP_CONFORMANCE_CONTEXT=$(rpcx describe "$at" --json -q '{toolCalls: [.methods[] | {name, arguments: {region: "r"}}]}')
  fi
  printf '%s' "$MCP_CONFORMANCE_CONTEXT" | jq -c '.toolCalls[] | {method: .name, params: .arguments}' | rpcx call "$at" --batch --no-check
  ;;
json-schema-2020-12-preservation)
  rpcx describe "$at" json_schema_2020_12_tool --json -q '{schema: .params}' | rpcx call "$at" json_schema_echo - --no-check
  ;;
*) echo "no client for $MCP_CONFORMANCE_SCENARIO" >&2; exit 1 ;;
esac
