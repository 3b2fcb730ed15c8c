#!/usr/bin/env bash
# go-ethereum's rpc server over http, ws and a Unix socket, and its client: calls and subscriptions
. "$INTEROP/lib.sh"
needs go
needs_built geth .

start '^\{' geth "$PWD/geth.ipc"
address=$(field http)

for endpoint in "http://$address/" "ws://$address/ws" "unix:$PWD/geth.ipc"; do
  want 0 3 rpcx call "$endpoint" orders_add 1 2
  want 0 '{"n":12345678901234567890,"price":1.10}' rpcx call "$endpoint" orders_echo '[{"n":12345678901234567890,"price":1.10}]'
  want 1 '' rpcx call "$endpoint" orders_fail
  said 'no such order'
  want 0 '{"id":"o_9"}' rpcx call "$endpoint" orders_fail --expect-error 4711 --jq .data
  want 1 '' rpcx call "$endpoint" orders_nothing
  said 'orders_nothing'
  ok "${endpoint%%:*}: calls, exact numbers, errors"
done

for endpoint in "ws://$address/ws" "unix:$PWD/geth.ipc"; do
  want 0 '{"number":0}
{"number":1}
{"number":2}' rpcx subscribe "$endpoint" orders_subscribe '["ticks",0,1]' --count 3
  want 0 '0
1
2
3' rpcx subscribe "$endpoint" orders_subscribe '["ticks",0,1]' --jq .number --until '.number == 3'
  want 0 '0
1' rpcx subscribe "$endpoint" orders_subscribe '["ticks",2,1]' --jq .number --idle 3s
  ok "${endpoint%%:*}: --count, --until and --idle end subscriptions"
done
logged 4 'unsubscribed after some'
ok "rpcx unsubscribed from each of them"

# This server does not describe its methods, but the introspect dialect can still read its streams.
for endpoint in "introspect+ws://$address/ws" "introspect+unix:$PWD/geth.ipc"; do
  want 0 '{"number":0}
{"number":1}' rpcx subscribe "$endpoint" orders_subscribe '["ticks",0,1]' --count 2
  want 0 '{"id":"o_1"}' rpcx call "$endpoint" orders_echo '[{"id":"o_1"}]'
  want 1 '' rpcx call "$endpoint" orders_fail
  said 'no such order'
  want 1 '' rpcx describe "$endpoint"
  said 'has no catalog'
done
logged 6 'unsubscribed after some'
ok "introspect: streams, results, errors, a server without a catalog"

want 1 '' rpcx subscribe "http://$address/" orders_subscribe '["ticks",0,1]' --count 1
said 'otification|ubscription'
ok "http: the server's own error for a subscription"
stop

# geth's client reads and ends the streams of rpcx serve. The hook notices the end of its stream.
start '"listening"' rpcx serve introspect+ws://127.0.0.1:0/ \
  --on 'orders_subscribe=lines:trap "echo ended >&2; exit" TERM; n=0; while :; do echo $((n += 1)); sleep 0.02; done'
address=$(field listening)
want 0 '{"service_hash":"HASH","type":"data","provenance":["orders"],"content_type":"orders.subscribe","data":1}
{"service_hash":"HASH","type":"data","provenance":["orders"],"content_type":"orders.subscribe","data":2}
{"service_hash":"HASH","type":"data","provenance":["orders"],"content_type":"orders.subscribe","data":3}' \
  sh -c 'geth dial "$1" | sed "s/\"service_hash\":\"[0-9a-f]*\"/\"service_hash\":\"HASH\"/"' - "${address#introspect+}"
logged 1 'ended'
ok "geth's client subscribes to a stream of the introspect dialect, and unsubscribes"
