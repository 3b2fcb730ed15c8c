#!/bin/sh
# The client of the suite's scenarios: URL is where the scenario's server is.
at=mcp+$1
case $MCP_CONFORMANCE_SCENARIO in
initialize) exec rpcx describe "$at" ;;
tools_call) exec rpcx call "$at" add_numbers a=5 b=3 ;;
elicitation-sep1034-client-defaults)
  # What nobody filled in has its default.
  exec rpcx call "$at" test_client_elicitation_defaults \
    --on 'elicitation/create=jq:{action: "accept", content: (.requestedSchema.properties | map_values(.default))}'
  ;;
sse-retry) exec rpcx call "$at" test_reconnection ;;
*) echo "no client for $MCP_CONFORMANCE_SCENARIO" >&2; exit 1 ;;
esac
