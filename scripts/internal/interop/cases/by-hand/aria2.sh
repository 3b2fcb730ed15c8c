#!/usr/bin/env bash
# aria2 over http and ws: errors with HTTP status 400, and notifications between responses
. "$INTEROP/lib.sh"
needs aria2c node

start '^\{' node "$INTEROP/servers/files.js"
files=http://127.0.0.1:$(field port)

port=$(free_port)
mkdir downloads
start 'listening on TCP port' aria2c --enable-rpc "--rpc-listen-port=$port" --rpc-secret=s3cret --no-conf \
  --disable-ipv6=true "--dir=$PWD/downloads"
http=http://127.0.0.1:$port/jsonrpc
ws=ws://127.0.0.1:$port/jsonrpc

for endpoint in "$http" "$ws"; do
  want 0 true rpcx call "$endpoint" aria2.getVersion '"token:s3cret"' --jq '.version | startswith("1.")'
  want 1 '' rpcx call "$endpoint" aria2.getVersion '"token:wrong"'
  said 'Unauthorized'
  want 1 '' rpcx call "$endpoint" aria2.nothing '"token:s3cret"'
  said 'No such method'
  want 0 '[["1.36.0"],{"code":1,"message":"Unauthorized"}]' rpcx call "$endpoint" system.multicall \
    '[[{"methodName":"aria2.getVersion","params":["token:s3cret"]},{"methodName":"aria2.getVersion","params":[]}]]' \
    --jq '[[.[0][0].version], .[1]]'
  ok "${endpoint%%:*}: calls, and errors with their code (over http with status 400)"
done

# The result of addUri is the id of a download. Notifications report when it starts and ends, but contain no subscription id.
want 0 'aria2.onDownloadStart
aria2.onDownloadComplete' rpcx subscribe "$ws" aria2.addUri '["token:s3cret",["'"$files"'/hello.txt"]]' \
  --select 'select(.method // "" | startswith("aria2.onDownload"))' --messages --count 2 --for 20s --jq .method -r
want 0 hello cat downloads/hello.txt
want 0 'aria2.onDownloadStart
aria2.onDownloadError' rpcx subscribe "$ws" aria2.addUri '["token:s3cret",["'"$files"'/missing"]]' \
  --select 'select(.method // "" | startswith("aria2.onDownload"))' --messages --count 2 --for 20s --jq .method -r
ok "notifications about a download that succeeds and one that fails"

want 0 16 rpcx subscribe "$ws" aria2.addUri '["token:s3cret",["'"$files"'/second.txt"]]' \
  --method aria2.onDownloadComplete --count 1 --for 20s --jq '.[0].gid | length'
ok "--method selects notifications without a subscription"
