#!/usr/bin/env bash
# MCP servers of the TypeScript SDK 2 and the Go SDK over stdio and HTTP, whose versions rpcx detects
. "$INTEROP/lib.sh"
needs_packages
needs_built gomcp .

answers='elicitation/create=jq:if .message == "Who?" then {action: "accept", content: {name: "Bo"}} else {action: "accept", content: {city: "Rome"}} end'

# asks ENDPOINT: calls a tool that asks twice, with and without a hook.
asks() {
  want 0 '"Bo in Rome"' rpcx call "$1" twice --on "$answers"
  want 1 '' rpcx call "$1" twice
  said 'elicitation/create=json'
}

# typescript ENDPOINT: calls the server's tools.
typescript() {
  want 0 '"modern: hihi"' rpcx call "$1" echo message=hi times=2
  want 1 '' rpcx call "$1" ecko message=hi
  said 'did you mean echo'
  want 0 '"eü "' rpcx call "$1" region at='eü '
  want 0 '"Ada in Rome"' rpcx call "$1" twice --on "${answers/name: \"Bo\"/}"
  asks "$1"
  want 0 $'{"event":"progress","message":"half","fraction":0.5}\n{"event":"log","level":"info","message":"a line","data":"a line"}\n{"event":"data","data":"done"}' \
    rpcx call "$1" slow --events
  want 0 '"A"' rpcx call "$1" resources/read uri=test://a -q '.contents[0].text'
  want 0 '["echo","region","twice","slow","forever","resources/read","resources/subscribe"]' rpcx describe "$1" -q '[.methods[].name]'
}

sdk2=$INTEROP/servers/mcp2.mjs
for only in '' ' modern'; do
  typescript "mcp+exec:node $sdk2 stdio$only"
  want 124 '' rpcx call "mcp+exec:node $sdk2 stdio$only" forever --timeout 2s
  said '^cancelled$'
done
want 0 '"legacy: hi"' rpcx call "mcp+exec:node $sdk2 stdio" echo message=hi --set version=2025-11-25
want 5 '' rpcx call "mcp+exec:node $sdk2 stdio modern" echo message=hi --set version=2025-11-25
ok "stdio: the TypeScript SDK 2, with all versions and with 2026-07-28 only"

for only in '' modern; do
  start url node "$sdk2" http $only
  at=mcp+$(field url)
  typescript "$at"
  want 124 '' rpcx call "$at" forever --timeout 2s
  logged 1 '^cancelled$'
  want 0 '{"uri":"test://a"}' rpcx subscribe "$at" resources/subscribe uri=test://a --count 1
  if [[ $only == '' ]]; then want 0 '"legacy: hi"' rpcx call "$at" echo message=hi --set version=2025-11-25; fi
  stop
done
ok "HTTP: the TypeScript SDK 2, with all versions and with 2026-07-28 only"

asks 'mcp+exec:gomcp serve stdio'
want 0 '"hi"' rpcx call 'mcp+exec:gomcp serve stdio' echo message=hi
want 0 '"hi"' rpcx call 'mcp+exec:gomcp serve stdio' echo message=hi --set version=2025-11-25
start url gomcp serve http
at=mcp+$(field url)
asks "$at"
want 0 '"hi"' rpcx call "$at" echo message=hi
want 0 '"hi"' rpcx call "$at" echo message=hi --set version=2025-11-25
stop
ok "stdio and HTTP: the Go SDK"
