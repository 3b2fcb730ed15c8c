#!/usr/bin/env bash
# jayson's servers over http, tcp, tls and ws, and with JSON-RPC 1.0
. "$INTEROP/lib.sh"
needs_packages
certificate

start '^\{' node "$INTEROP/servers/jayson.js" cert.pem key.pem
http=http://127.0.0.1:$(field http)/
tcp=tcp://127.0.0.1:$(field tcp)
tls=tls://127.0.0.1:$(field tls)
ws=ws://127.0.0.1:$(field ws)/
one=jsonrpc1+tcp://127.0.0.1:$(field v1)

for endpoint in "$http" "$tcp" "$ws" "$tls --cacert cert.pem"; do
  read -ra E <<<"$endpoint"
  want 0 3 rpcx call "${E[@]}" add '[1,2]'
  want 0 3 rpcx call "${E[@]}" add 1 2
  want 0 '{"id":9007199254740991,"price":1.5,"tags":["a","b"]}' \
    rpcx call "${E[@]}" echo id:=9007199254740991 price:=1.50 'tags[]=a' 'tags[]=b'
  want 1 '' rpcx call "${E[@]}" fail
  said 'no such order.*4711|4711.*no such order'
  want 1 '' rpcx call "${E[@]}" nothing
  said 'ethod not found'
  want 0 '{"code":4711,"message":"no such order","data":{"id":"o_9"}}' rpcx call "${E[@]}" fail --expect-error 4711
  want 0 3000000 rpcx call "${E[@]}" big 3000000 --jq length
  want 124 '' rpcx call "${E[@]}" slow 20000 --timeout 300ms
  ok "${endpoint%%:*}: params by position and by name, errors, a 3 MB response, a timeout"
done

for endpoint in "$tcp" "$ws"; do
  want 0 '' rpcx call "$endpoint" note --notify x=1
  quiet
done
want 0 '' rpcx call "$http" note --notify x=1
quiet
want 0 3 rpcx call "$http" noted
ok "notifications; over HTTP, a reply with status 204 and no body"

want 1 '{"id":"a","result":3}
{"id":2,"result":"after 60"}
{"id":3,"error":{"code":-32601,"message":"Method not found"}}' \
  rpcx call "$ws" --batch --jobs 3 <<'IN'
{"id":"a","method":"add","params":[1,2]}
{"method":"slow","params":[60]}
{"method":"nothing"}
IN
ok "a batch's results are in the order of its lines; one failed call decides the status"

want 0 '{"jsonrpc":"2.0","id":"x","result":"after 200"}' \
  rpcx connect "$tcp" <<<'{"id":"x","method":"slow","params":[200]}'
ok "connect waits for pending responses before it closes"

want 3 '' rpcx call "$tls" add 1 2
said 'certificate'
want 0 3 rpcx call "$tls" --insecure add 1 2
said 'insecure'
ok "an unknown certificate is refused; --insecure accepts it with a warning"

want 0 3 rpcx call "$one" add 1 2
want 1 '' rpcx call "$one" fail '"x"'
want 0 '[]' rpcx call "$one" echo
ok "JSON-RPC 1.0: params are always sent; \"error\":null is not an error"
