#!/usr/bin/env bash
# the ovsdb dialect: libovsdb, which copies a table with monitor_cond_since, as the client of rpcx serve
. "$INTEROP/lib.sh"
needs_built ovsdb .

# The hook for transact writes its changes to a FIFO, from which the monitor reads its updates.
mkfifo changes
cat >monitor.sh <<'SH'
echo '[false,"00000000-0000-0000-0000-000000000000",{"Item":{"7f0c6d2e-0000-4000-8000-000000000001":{"initial":{"name":"bolt","n":3}}}}]'
exec cat <>changes
SH
cat >transact.sh <<'SH'
read -r params
row=7f0c6d2e-0000-4000-8000-000000000002
case $params in
  *'"op":"insert"'*)
    echo "{\"Item\":{\"$row\":{\"insert\":{\"name\":\"nut\",\"n\":4}}}}" >changes
    echo "[{\"uuid\":[\"uuid\",\"$row\"]}]" ;;
  *)
    echo "{\"Item\":{\"$row\":{\"delete\":null}}}" >changes
    echo '[{"count":1}]' ;;
esac
SH
hooks=(--on 'list_dbs=json:["Orders"]'
  --on 'get_schema=json:{"name":"Orders","version":"1.0.0","tables":{"Item":{"columns":{"name":{"type":"string"},"n":{"type":"integer"}}}}}'
  --on 'monitor_cond_since=lines:sh monitor.sh' --on 'transact=sh transact.sh')

start '^\{"listening":' rpcx serve ovsdb+tcp://127.0.0.1:0 "${hooks[@]}"
shown='schema Orders 1.0.0
added bolt 3
echo <nil>
insertions 1 <nil>
added nut 4
deletions 1 <nil>
deleted nut
cancelled <nil>'
want 0 "$shown" rpcx record ovsdb+tcp://127.0.0.1:0 --to "$(field listening)" -o o.tape -- sh -c 'ovsdb ${RPCX_ENDPOINT##*//}'
want 0 '' rpcx validate o.tape --strict
ok "a schema, a monitor with its first rows and updates, transactions, echo, cancel; no problem on the tape"
stop

defective ovsdb 's/^echo = "."/echo = "[0]"/'
start '^\{"listening":' rpcx serve defective+tcp://127.0.0.1:0 "${hooks[@]}"
want 0 "${shown/echo <nil>/echo incorrect server response: [libovsdb echo], [0]}" ovsdb "$(address=$(field listening); echo "${address##*//}")"
sed '0,/"error":null/s//"error":{"error":"x"}/' o.tape >defect.tape
rpcx validate defect.tape >lines || true
want 0 'must result-or-error' broken lines
ok "the client detects a planted echo of another value, and validate a result with an error"
