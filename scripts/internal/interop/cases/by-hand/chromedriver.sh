#!/usr/bin/env bash
# the bidi dialect: the WebSocket of a ChromeDriver session, which rpcx uses and does not end
. "$INTEROP/lib.sh"
needs chromedriver chromium curl jq

start 'started successfully on port' chromedriver --port=0
driver=http://127.0.0.1:${line##* }
driver=${driver%.}
cat >session.json <<JSON
{"capabilities":{"alwaysMatch":{"browserName":"chrome","webSocketUrl":true,"goog:chromeOptions":{"binary":"$(type -P chromium)",
  "args":["--headless=new","--no-sandbox","--disable-gpu","--disable-background-networking","--no-first-run"]}}}}
JSON
curl -s -H 'Content-Type: application/json' -d @session.json "$driver/session" >session
at=bidi+$(jq -r .value.capabilities.webSocketUrl session)
want 0 2 rpcx eval "$at" '1 + 1'
want 1 '' rpcx eval "$at" 'throw new TypeError("no")'
said 'TypeError: no'
want 0 '' found "$at" --try 'browsingContext.getTree={}' --try 'session.subscribe={"events":["log.entryAdded"]}'
want 0 null sh -c "curl -s -X DELETE '$driver/session/$(jq -r .value.sessionId session)' | jq .value"
ok "evaluation over several connections, without problems; the session stays open until its owner ends it"
