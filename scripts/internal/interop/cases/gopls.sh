#!/usr/bin/env bash
# gopls (header framing) over exec and tcp: it uses the same ids as rpcx, and waits for responses to its own requests
. "$INTEROP/lib.sh"
needs_built gopls golang.org/x/tools/gopls
needs node

mkdir project
printf 'module example.com/broken\n\ngo 1.26\n' >project/go.mod
cat >project/main.go <<'GO'
package main

// answer says how many.
func answer() int { return 42 }

func main() { println(anwser()) }
GO
uri=file://$PWD/project

# The hooks answer gopls's requests in the way editors usually do.
hooks=(
  --on 'workspace/configuration=jq:[.items[] | {}]'
  --on 'window/workDoneProgress/create=json:null'
  --on 'client/registerCapability=json:null'
)

# text FILE: prints FILE as the content of a JSON string. FILE must not contain quotes, backslashes, or control characters other
# than tabs and line breaks.
text() { sed -e 's/\t/\\t/g' -e 's/$/\\n/' "$1" | tr -d '\n'; }

initialize='{"processId":null,"rootUri":"'$uri'","workspaceFolders":[{"uri":"'$uri'","name":"broken"}],"capabilities":{
  "workspace":{"configuration":true,"workspaceFolders":true,"didChangeConfiguration":{"dynamicRegistration":true},
  "didChangeWatchedFiles":{"dynamicRegistration":true}},"window":{"workDoneProgress":true}}}'
initialize=${initialize//$'\n'/}
open='{"textDocument":{"uri":"'$uri'/main.go","languageId":"go","version":1,"text":"'$(text project/main.go)'"}}'
hover='{"textDocument":{"uri":"'$uri'/main.go"},"position":{"line":3,"character":6}}'

# converse ENDPOINT: sends an editor's messages about a file with an error, through one pipe.
converse() {
  local endpoint=$1 in out message status='' diagnosed='' hovered='' down=''
  rm -f input messages
  mkfifo input
  exec {out}< <(rpcx connect "$endpoint" "${hooks[@]}" <input 2>stderr && echo 'status 0' || echo "status $?")
  exec {in}>input
  {
    printf '{"id":1,"method":"initialize","params":%s}\n' "$initialize"
    printf '{"method":"initialized","params":{}}\n'
    printf '{"method":"textDocument/didOpen","params":%s}\n' "$open"
  } >&"$in"
  while IFS= read -r -t 120 message <&"$out"; do
    printf '%s\n' "$message" >>messages
    case $message in
      *'"method":"textDocument/publishDiagnostics"'*'undefined: anwser'*)
        if [[ -z $diagnosed ]]; then
          diagnosed=yes
          printf '{"id":2,"method":"textDocument/hover","params":%s}\n' "$hover" >&"$in"
        fi ;;
      *'answer says how many'*'"id":2'*)
        hovered=yes
        printf '{"id":3,"method":"shutdown"}\n' >&"$in" ;;
      *'"result":null'*'"id":3'*)
        down=yes
        printf '{"method":"exit"}\n' >&"$in"
        exec {in}>&- ;;
      *'"method":"workspace/configuration"'* | *'"method":"client/registerCapability"'*)
        echo "$CASE: a request that a hook answers was printed: $message" >&2
        bad=1 ;;
      'status '*) status=${message#status } ;;
    esac
  done
  if [[ -z $down ]]; then exec {in}>&-; fi
  exec {out}<&-
  if [[ $diagnosed$hovered$down != yesyesyes || $status != 0 ]]; then
    bad=1
    echo "$CASE: diagnosed ${diagnosed:-no}, hovered ${hovered:-no}, shut down ${down:-no}, status ${status:-none}" >&2
    cut -c 1-300 messages stderr | sed 's/^/  /' >&2
  fi
}

want 0 '{"hover":true,"name":"gopls"}' \
  rpcx call lsp+exec:gopls initialize "$initialize" "${hooks[@]}" \
  --jq '{name: .serverInfo.name, hover: .capabilities.hoverProvider}'
ok "exec: one call, after which the child is shut down"

converse lsp+exec:gopls
ok "exec: hooks answer gopls's requests; diagnostics, hover, shutdown"

port=$(free_port)
start 'listening on tcp' gopls "-listen=127.0.0.1:$port"
reachable "$port"
converse "lsp+tcp://127.0.0.1:$port"
ok "tcp: hooks answer gopls's requests; diagnostics, hover, shutdown"

want 0 '1
2' sh -c 'rpcx connect lsp+exec:gopls "$@" | grep -oE "\"id\":(1|2)\b" | cut -d: -f2' - "${hooks[@]}" <<IN
{"id":1,"method":"initialize","params":$initialize}
{"method":"initialized","params":{}}
{"method":"textDocument/didOpen","params":$open}
{"id":2,"method":"textDocument/hover","params":$hover}
IN
ok "a pipe whose input ends immediately receives every response"

cat >project/open.sh <<SH
rpcx call @ -n textDocument/didOpen '$open'
SH
cd project
want 0 '"undefined: anwser"' rpcx subscribe lsp+exec:gopls --method textDocument/publishDiagnostics --on-open 'sh open.sh' \
  --until '.diagnostics != []' --for 60s -q '.diagnostics[].message'
ok "with rpcx's handshake: diagnostics, without hooks for gopls's usual requests"

want 0 '"textDocument/hover"' rpcx describe lsp+exec:gopls -q '.methods[].name | select(. == "textDocument/hover")'
want 0 '"answer"' rpcx call lsp+exec:gopls workspace/symbol query=answer -q '.[].name'
rpcx connect lsp+exec:gopls --session go
want 0 '' rpcx call @go -n textDocument/didOpen "$open"
want 0 true rpcx call @go textDocument/hover "$hover" -q '.contents.value | contains("answer says how many")'
want 0 '' rpcx session close go
ok "the catalog from gopls's capabilities, a call, a session"
