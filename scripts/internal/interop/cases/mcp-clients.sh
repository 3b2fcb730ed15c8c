#!/usr/bin/env bash
# one directory of shell tools for MCP clients of several versions at the same time: TypeScript SDKs 1 and 2, Go SDK, Inspector
. "$INTEROP/lib.sh"
needs_packages
needs jq
needs_built gomcp .

# tool NAME: installs the script on stdin as a tool.
tool() {
  mkdir -p "$(dirname "tools/$1")"
  { echo '#!/bin/sh'; cat; } >"tools/$1"
  chmod 755 "tools/$1"
}

tool echo <<<'jq -c .message'
echo '{"description":"Says it","params":{"type":"object","required":["message"],"properties":{"message":{"type":"string","x-mcp-header":"Message"}}}}' >tools/echo.json
tool long <<'SH2'
for f in 0.25 0.5 0.75; do echo '{"progress":"on","fraction":'$f'}'; sleep 0.1; done
echo '"done"'
SH2
echo '{"kind":"stream"}' >tools/long.json
tool ask <<'SH2'
asks() { rpcx call @ elicitation/create '{"message":"'"$1"'","requestedSchema":{"type":"object","required":["v"],"properties":{"v":{"type":"'$2'"}}}}' -q .content.v; }
name=$(asks "Your name?" string) && age=$(asks "Your age?" integer) && echo "{\"name\":$name,\"age\":$age}"
SH2
tool sample <<'SH2'
rpcx call @ sampling/createMessage '{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":5}' -q .content.text
SH2
tool resources/read <<<"jq -c '{contents: [{uri, text: \"one\"}]}'"
tool resources/list <<<"echo '{\"resources\":[{\"uri\":\"test://one\",\"name\":\"one\"}]}'"

# wanted VERSION: prints the expected output of each client.
wanted() {
  cat <<JSON
"$1"
["ask","echo","long","sample"]
"hé"
"done"
[0.25,0.5]
{"name":"Ada","age":36}
"sampled"
"one"
-32602
JSON
}

new=2026-07-28 old=2025-11-25
serve=(rpcx serve mcp+stdio: --hooks tools)
want 0 "$(wanted $new)" node "$INTEROP/clients/mcp2.mjs" $new "${serve[@]}"
want 0 "$(wanted $new)" node "$INTEROP/clients/mcp2.mjs" auto "${serve[@]}"
want 0 "$(wanted $old)" node "$INTEROP/clients/mcp2.mjs" legacy "${serve[@]}"
ok "stdio: the TypeScript SDK 2, with version $new, with automatic detection, and with $old"

want 0 "$(wanted $new)" gomcp auto "${serve[@]}"
want 0 "$(wanted $old)" gomcp $old "${serve[@]}"
ok "stdio: the Go SDK, with automatic detection and with $old"

start listening rpcx serve mcp+http://127.0.0.1:0/mcp --hooks tools
at=$(field listening)
url=${at#mcp+}
# together SECOND...: runs two clients at the same time, one of them with an old version.
together() {
  node "$INTEROP/clients/mcp2.mjs" legacy "$url" >other.out 2>other.err &
  local other=$!
  "$@" && wait $other && cat other.out
}
both=$(wanted $new; wanted $old)
want 0 "$both" together node "$INTEROP/clients/mcp2.mjs" $new "$url"
want 0 "$both" together node "$INTEROP/clients/mcp2.mjs" auto "$url"
want 0 "$both" together gomcp auto "$url"
want 0 "$(wanted $old)" gomcp $old "$url"
want 0 "$(wanted $old)" node "$INTEROP/clients/mcp1.mjs" "$url"
ok "HTTP: clients of $new and $old at the same time (TypeScript SDKs 1 and 2, Go SDK)"

inspector() { local show=$1; shift; node "$INTEROP/node_modules/.bin/mcp-inspector" --cli "$url" --transport http "$@" | jq -c "$show"; }
want 0 '["ask","echo","long","sample"]' inspector '[.tools[].name] | sort' --method tools/list
want 0 '"hi"' inspector '.content[0].text' --method tools/call --tool-name echo --tool-arg message=hi
ok "HTTP: the MCP Inspector lists tools and calls one"
stop
