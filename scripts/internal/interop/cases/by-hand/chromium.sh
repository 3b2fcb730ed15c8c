#!/usr/bin/env bash
# the cdp dialect: Chromium, found through HTTP, in flat sessions
. "$INTEROP/lib.sh"
needs chromium

start 'DevTools listening on' chromium --headless=new --no-sandbox --disable-gpu --remote-debugging-port=0 --user-data-dir="$PWD/profile" about:blank
ws=${line##* }
http=cdp+http://${ws#ws://}
http=${http%%/devtools*}
want 0 '"about:blank"' rpcx eval "$http" location.href
want 0 '{"a":[1,"x"]}' rpcx eval "$http" '({a: [1, await Promise.resolve("x")]})'
want 1 '' rpcx eval "$http" 'throw new TypeError("no")'
said 'TypeError: no'
want 0 true rpcx describe "$http" -q '(.methods | length > 500) and (."$defs" | has("Page.FrameId"))'
ok "evaluation in a page, an exception, a catalog of all domains"

rpcx connect "$http" --session web
target=$(rpcx call @web Target.createTarget url=about:blank -r -q .targetId)
session=$(rpcx call @web Target.attachToTarget targetId="$target" flatten:=true -r -q .sessionId)
want 0 '"t"' rpcx eval @web 'document.title = "t"' --set sessionId="$session"
want 0 "$session" rpcx call @web Runtime.enable --set sessionId="$session" --method Runtime.executionContextCreated --events -r \
  -q 'select(.method) | .extra.sessionId'
want 0 true rpcx call @web Target.closeTarget targetId="$target" -q .success
want 0 '' rpcx session close web
ok "a new target, used through its session"

needs_packages
want 0 'page about:blank
value 42
console hi
left' rpcx record cdp+ws://127.0.0.1:0/ --to "cdp+$ws" -o p.tape -- \
  sh -c "node '$INTEROP/clients/bidi.mjs' \${RPCX_ENDPOINT#cdp+} cdp | grep -E '^(page|value|console|left)'"
want 0 '' rpcx validate p.tape --strict
want 0 '' found "$http" --try Browser.getVersion --try Target.getTargets
ok "no problem in Puppeteer's conversation or in the browser's responses to validate"
