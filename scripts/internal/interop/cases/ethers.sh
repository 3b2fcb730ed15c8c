#!/usr/bin/env bash
# the Ethereum clients ethers and web3 read the stream of a hook, whose form is in the member stream of the catalog
. "$INTEROP/lib.sh"
needs_packages

cat >heads.sh <<'SH'
until [ -e listens ]; do sleep 0.02; done
for n in 11 12 13; do echo '{"number":"0x'$n'","hash":"0x'$(printf %064d $n)'"}'; done
echo $$ >>pids
exec sleep 600
SH
cat >node.json <<'JSON'
{"catalog":1,"methods":[
 {"name":"eth_chainId","run":"json:\"0x1\""},
 {"name":"eth_accounts","run":"json:[]"},
 {"name":"eth_blockNumber","run":"json:\"0x10\""},
 {"name":"eth_subscribe","kind":"stream","run":"lines:sh heads.sh","stream":{"method":"eth_subscription","id":"hex"}}]}
JSON

start '^\{"listening":' rpcx serve ws://127.0.0.1:0/ --hooks node.json
touch listens # ethers also handles items that arrive with the response
want 0 '["ethers",16]
["ethers",[17,18,19]]
["ethers","unsubscribed"]' node "$INTEROP/clients/heads.mjs" ethers "$(field listening)"
ok "ethers: a call, three block headers, unsubscribe"
rm listens # web3 loses items that arrive with the response, and creates this file when it is ready
want 0 '["web3",[17,18,19]]
["web3","unsubscribed"]' node "$INTEROP/clients/heads.mjs" web3 "$(field listening)"
ok "web3: three block headers, unsubscribe"
stop
while read -r pid; do
  if [[ $(ps -o stat= -p "$pid" || true) == [!Z]* ]]; then
    bad=1
    echo "$CASE: a hook has outlived its subscription: $pid" >&2
  fi
done <pids
ok "no hook outlives its subscription"
