#!/usr/bin/env bash
# The client for the suite's scenarios auth/*. The argument is the URL of the scenario's server. DEFECT selects a defect: "silent"
# does not log in, and "careless" logs in without checking the servers' metadata.
set -u
at=$1 work=$(mktemp -d)
export XDG_STATE_HOME=$work
trap 'rm -rf "$work"' EXIT
context() { jq -r ".$1" <<<"$MCP_CONFORMANCE_CONTEXT"; }

if [[ ${DEFECT-} == careless ]]; then
  server=$(curl -s "${at%/mcp}/.well-known/oauth-protected-resource/mcp" | jq -r '.authorization_servers[0]')
  for scope in a b c d e; do
    curl -s -o /dev/null "$server/authorize?response_type=code&client_id=x&redirect_uri=http://127.0.0.1:1/&state=x&scope=$scope&code_challenge=x&code_challenge_method=S256"
    curl -s -o /dev/null "$server/token" -d grant_type=authorization_code -d code=test-auth-code -d client_id=x
  done
  exit
fi

login=(rpcx auth login "mcp+$at" --timeout 20s)
case $MCP_CONFORMANCE_SCENARIO in
auth/basic-cimd) login+=(--client-metadata https://conformance-test.local/client-metadata.json) ;;
auth/pre-registration | auth/client-credentials-basic)
  context client_secret >"$work/secret"
  login+=(--client-id "$(context client_id)" --client-secret "@$work/secret")
  ;;
auth/client-credentials-jwt)
  context private_key_pem >"$work/key"
  login+=(--client-id "$(context client_id)" --client-key "$work/key")
  ;;
esac
if [[ $MCP_CONFORMANCE_SCENARIO == auth/client-credentials-* ]]; then login+=(--client-credentials); fi

# send METHOD PARAMS: sends a request. In protocol version 2026-07-28, requests need no handshake.
send() {
  if [[ $MCP_CONFORMANCE_PROTOCOL_VERSION < 2026 ]]; then
    case $1 in
    tools/list) rpcx describe "mcp+$at" ;;
    tools/call) rpcx call "mcp+$at" test-tool ;;
    esac
    return
  fi
  rpcx call "$at" "$1" "$(jq -nc --argjson more "$2" --arg version "$MCP_CONFORMANCE_PROTOCOL_VERSION" '$more + {_meta: {
    "io.modelcontextprotocol/protocolVersion": $version, "io.modelcontextprotocol/clientCapabilities": {}}}')" \
    -H "MCP-Protocol-Version: $MCP_CONFORMANCE_PROTOCOL_VERSION" -H "Mcp-Method: $1"
}

if [[ ${DEFECT-} != silent ]]; then "${login[@]}" || exit; fi
send tools/list '{}' >/dev/null || true
# If the request fails, the error proposes a login. After the login, the client repeats the request.
RPCX_ERRORS=json send tools/call '{"name":"test-tool","arguments":{}}' 2>"$work/errors" && exit
cat "$work/errors" >&2
mapfile -t fix < <(jq -r 'select(.error.fix[1] == "auth") | .error.fix[]' "$work/errors")
if [[ ${#fix[@]} -eq 0 || ${DEFECT-} == silent ]]; then exit 1; fi
"${fix[@]}" && send tools/call '{"name":"test-tool","arguments":{}}'
