#!/usr/bin/env bash
# the bidi dialect: Firefox with evaluation, contexts and events
. "$INTEROP/lib.sh"
firefox=$(type -P firefox-esr || type -P firefox) || missing Firefox

mkdir profile
start 'WebDriver BiDi listening on' env HOME="$PWD" "$firefox" --headless --no-remote --profile profile --remote-debugging-port=0 about:blank
at=bidi+${line##* }/session
want 0 '{"a":[1,"x"],"b":"2","c":null}' rpcx eval "$at" '({a: [1, "x"], b: 2n, c: null})'
want 1 '' rpcx eval "$at" 'throw new TypeError("no")'
said 'TypeError: no'
want 0 '"about:blank"' rpcx call "$at" browsingContext.getTree -q '.contexts[0].url'
want 1 '' rpcx call "$at" browsingContext.close context=nosuch
said 'no such frame'
ok "evaluation, an exception, calls, an error"

needs_packages
want 0 'page about:blank
value 42
console hi
left' rpcx record bidi+ws://127.0.0.1:0/session --to "$at" -o p.tape -- \
  sh -c "node '$INTEROP/clients/bidi.mjs' \${RPCX_ENDPOINT#bidi+} | grep -E '^(page|value|console|left)'"
want 0 '' rpcx validate p.tape --strict
want 0 '' found "$at" --try 'browsingContext.getTree={}' --try 'session.subscribe={"events":["log.entryAdded"]}'
ok "no problem in Puppeteer's conversation or in the browser's responses to validate"

cat >log.sh <<'SH'
rpcx eval @ 'console.log("hi")'
SH
want 0 '"hi"' rpcx subscribe "$at" session.subscribe events:='["log.entryAdded"]' --on-open 'sleep 0.5; sh log.sh' --count 1 -q .params.text
ok "events of a subscription"
