#!/usr/bin/env bash
# A Scriptling plugin in bash: rpcx plugin call exec:scripts/examples/plugin.sh greet Ada
# The plugin returns the text of a JSON string unchanged, including its escapes.
text='"value":"(([^"\\]|\\.)*)"'
while IFS= read -r line; do
  [[ $line =~ \"id\":([0-9]+) ]] || continue # a notification
  id=${BASH_REMATCH[1]}
  case $line in
    *'"scriptling.handshake"'*) result='"result":{"protocol":"1.0","transport":"json","library":{"name":"hello","version":"1.0.0"},"schema":{"functions":[{"name":"greet"}]}}' ;;
    *'"function.call"'*'"name":"greet"'*) [[ $line =~ $text ]]; result='"result":{"type":"string","value":"Hello, '${BASH_REMATCH[1]}'"}' ;;
    *'"plugin.shutdown"'*) printf '{"jsonrpc":"2.0","id":%s,"result":null}\n' "$id"; exit ;;
    *'"environment.'*) result='"result":null' ;;
    *) result='"error":{"code":-32601,"message":"unknown method or function"}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$result"
done
