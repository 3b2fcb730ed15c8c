#!/usr/bin/env bash
# ovsdb-server (JSON-RPC 1.0, concat framing), which closes the connection if its echo gets no response
. "$INTEROP/lib.sh"
needs ovsdb-server ovsdb-tool
needs_built ovsdb .

cat >orders.ovsschema <<'JSON'
{"name":"Orders","version":"1.0.0",
 "tables":{"Item":{"columns":{"name":{"type":"string"},"n":{"type":"integer"}},"isRoot":true}}}
JSON
ovsdb-tool create orders.db orders.ovsschema
start 'listening on port' ovsdb-server --remote=ptcp:0:127.0.0.1 --remote="punix:$PWD/db.sock" --unixctl="$PWD/ctl.sock" \
  -vconsole:info orders.db
port=${line##* }
tcp=jsonrpc1+concat+tcp://127.0.0.1:$port
unix=jsonrpc1+concat+unix:$PWD/db.sock

for endpoint in "$tcp" "$unix"; do
  want 0 '["Orders","_Server"]' rpcx call "$endpoint" list_dbs
  want 0 uuid rpcx call "$endpoint" transact '"Orders"' '{"op":"insert","table":"Item","row":{"name":"bolt","n":3}}' \
    --jq '.[0].uuid[0]' -r
  want 0 '[{"rows":[{"n":3}]}]' rpcx call "$endpoint" transact '"Orders"' \
    '{"op":"select","table":"Item","where":[["name","==","bolt"]],"columns":["n"]}' '{"op":"delete","table":"Item","where":[]}' \
    --jq '[.[0]]'
  want 1 '' rpcx call "$endpoint" nothing
  said 'unknown method'
  ok "${endpoint##*concat+}: calls, errors that are strings"
done

# The server calls echo after five idle seconds. It closes the connection at once if the response is an error, and after five more
# seconds if there is no response. The update arrives later than that.
rpcx subscribe "$tcp" monitor '["Orders","m1",{"Item":{"columns":["name","n"]}}]' --method update --count 1 \
  --jq '.[1].Item[].new.n' --on 'echo=jq:.' --for 30s >answered 2>answered.err &
answered=$!
rpcx subscribe "$tcp" monitor '["Orders","m2",{"Item":{"columns":["name","n"]}}]' --method update --count 1 \
  --jq '.[1].Item[].new.n' --for 30s --expect-count 1 >unanswered 2>unanswered.err &
unanswered=$!
started+=("$answered" "$unanswered")

status=0
wait "$unanswered" || status=$?
want 0 4 echo "$status"
want 0 '' cat unanswered
want 0 1 grep -c 'the peer called echo, which has no hook' unanswered.err

want 0 uuid rpcx call "$tcp" transact '"Orders"' '{"op":"insert","table":"Item","row":{"name":"nut","n":77}}' \
  --jq '.[0].uuid[0]' -r
status=0
wait "$answered" || status=$?
want 0 0 echo "$status"
want 0 77 cat answered
want 0 '' cat answered.err
ok "with a hook for echo the connection stays open; without it, the server closes it before the update"

# The ovsdb dialect answers echo itself. Its monitor is a stream whose first item is the response.
page=ovsdb+tcp://127.0.0.1:$port
want 0 '["Orders","_Server"]' rpcx call "$page" list_dbs
want 1 '' rpcx call "$page" nothing
said 'unknown method'
rpcx subscribe "$page" monitor '["Orders","m3",{"Item":{"columns":["name","n"]}}]' --count 2 \
  -q '[.Item[]?.new.n] | sort' --for 30s >monitored 2>monitored.err &
monitored=$!
started+=("$monitored")
sleep 12 # long enough for two echo requests
want 0 uuid rpcx call "$page" transact '"Orders"' '{"op":"insert","table":"Item","row":{"name":"cog","n":78}}' --jq '.[0].uuid[0]' -r
status=0
wait "$monitored" || status=$?
want 0 0 echo "$status"
want 0 $'[77]\n[78]' cat monitored
want 0 '' cat monitored.err
ok "the ovsdb dialect: the monitor's first item and its update, with responses to echo in between"

# RFC 7047, section 4.1.7, requires "result": null beside the error. The server leaves it out.
want 0 'must response-members' found "$page" --try list_dbs --try 'monitor=["Orders","m",{"Item":{}}]'
want 0 '[{"count":1}]' rpcx call "$page" transact '"Orders"' '{"op":"delete","table":"Item","where":[["n","!=",77]]}'
want 0 'schema Orders 1.0.0
added nut 77
echo <nil>
insertions 1 <nil>
added nut 4
deletions 1 <nil>
deleted nut
cancelled <nil>' ovsdb "127.0.0.1:$port"
ok "validate: the server's errors have no result; libovsdb gets the same results as from rpcx serve"
