#!/usr/bin/env bash
# the lsp dialect: VS Code's JSON language server, and VS Code's client library as the client of rpcx serve
. "$INTEROP/lib.sh"
needs_packages

json="lsp+exec:node $INTEROP/node_modules/.bin/vscode-json-languageserver --stdio"
cat >open.sh <<'SH'
rpcx call @ -n textDocument/didOpen '{"textDocument":{"uri":"file:///a.json","languageId":"json","version":1,"text":"{\"a\": [1,}"}}'
SH
want 0 '"Value expected"' rpcx subscribe "$json" --method textDocument/publishDiagnostics --on-open 'sh open.sh' --until '.diagnostics != []' --for 60s \
  -q '.diagnostics[0].message'
rpcx connect "$json" --session json
want 0 '' rpcx call @json -n textDocument/didOpen '{"textDocument":{"uri":"file:///b.json","languageId":"json","version":1,"text":"{\"a\":1, \"b\":[true]}"}}'
want 0 '"a"
"b"' rpcx call @json textDocument/documentSymbol textDocument.uri=file:///b.json -q '.[].name'
want 0 '' rpcx session close json
want 0 true rpcx describe "$json" -q '[.methods[].name] | index("textDocument/documentSymbol") != null'
ok "a language server: responses to its requests, diagnostics, symbols, capabilities"

cat >lint.sh <<'SH'
read -r params
rpcx call @ -n textDocument/publishDiagnostics uri=file:///a diagnostics:='[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}},"message":"no"}]'
SH
cat >hello.sh <<'SH'
read -r params
echo '{"progress":"half","fraction":0.5}'
echo '{"log":"careful"}'
printf '{"data":%s}\n' "$params"
SH
want 0 'rpcx serve {"executeCommandProvider":{"commands":["say.hello","ask.me","be.slow"]},"hoverProvider":true,"textDocumentSync":{"change":0,"openClose":true}}
diagnosed no
hover 42
command ["x"] begin report50 end
logged {"message":"careful","type":3}
asked {"title":"yes"}
exit 0' node "$INTEROP/clients/lsp.js" rpcx serve lsp+stdio: --on 'textDocument/hover=json:{"contents":"42"}' --on 'textDocument/didOpen=sh lint.sh' \
  --on 'say.hello=lines:sh hello.sh' --on 'ask.me=rpcx call @ window/showMessageRequest type:=3 message=ok? actions:='"'"'[{"title":"yes"}]'"'" --on 'be.slow=sleep 60'
ok "an editor: capabilities from the hooks, diagnostics, a command with progress and a log, a request to the editor, cancellation, exit"
