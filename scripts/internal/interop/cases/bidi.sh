#!/usr/bin/env bash
# the bidi dialect: puppeteer as the client of rpcx serve, checked with rpcx validate
. "$INTEROP/lib.sh"
needs_packages

cat >evaluate.sh <<'SH'
read -r params
case $params in
  *throws*)
    echo '{"type":"exception","realm":"r","exceptionDetails":{"columnNumber":0,"lineNumber":0,"text":"Error: no","exception":{"type":"error"},"stackTrace":{"callFrames":[]}}}' ;;
  *)
    rpcx call @ -n log.entryAdded '{"type":"console","level":"info","text":"hi","method":"log","timestamp":1,"source":{"realm":"r","context":"c"},"args":[{"type":"string","value":"hi"}]}'
    echo '{"type":"success","realm":"r","result":{"type":"number","value":42}}' ;;
esac
SH
hooks=(--on 'session.new=json:{"sessionId":"s","capabilities":{"browserName":"shell","browserVersion":"1","platformName":"linux","setWindowRect":false,"acceptInsecureCerts":false,"userAgent":"sh"}}'
  --on 'browser.getUserContexts=json:{"userContexts":[{"userContext":"default"}]}'
  --on 'browsingContext.getTree=json:{"contexts":[{"context":"c","url":"about:blank","userContext":"default","children":[],"parent":null,"clientWindow":"w","originalOpener":null}]}'
  --on 'script.evaluate=sh evaluate.sh')

start '^\{"listening":' rpcx serve bidi+ws://127.0.0.1:0/session "${hooks[@]}"
want 0 'version shell/1
page about:blank
value 42
console hi
thrown no
refused unknown command
left' rpcx record bidi+ws://127.0.0.1:0/session --to "$(field listening)" -o p.tape -- sh -c "node '$INTEROP/clients/bidi.mjs' \${RPCX_ENDPOINT#bidi+}"
want 0 '' rpcx validate p.tape --strict
ok "session, browsing contexts, evaluation, an event from a hook, an unknown command, close; no problem on the tape"
stop

defective bidi 's|type: "success", |type: "error", error: "unknown error", message: "defective", |'
start '^\{"listening":' rpcx serve defective+ws://127.0.0.1:0/session "${hooks[@]}"
want 1 '' node "$INTEROP/clients/bidi.mjs" "$(field listening | sed 's/^defective+//')"
sed '0,/"type":"success"/s//"type":"done"/' p.tape >defect.tape
rpcx validate defect.tape >lines || true
want 0 'must type' broken lines
ok "the client and validate detect a planted response of the wrong type"
