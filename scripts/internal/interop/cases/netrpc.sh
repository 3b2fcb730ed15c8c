#!/usr/bin/env bash
# the netrpc dialect: Go's net/rpc/jsonrpc as server and client
. "$INTEROP/lib.sh"
needs go

(cd "$INTEROP/netrpc" && go build -o "$OLDPWD/netrpc" .)
start '"port"' ./netrpc
at=netrpc+tcp://127.0.0.1:$(field port)
want 0 56 rpcx call "$at" Arith.Multiply A:=7 B:=8
want 1 '' rpcx call "$at" Arith.Divide A:=1 B:=0
said 'Arith.Divide: divide by zero'
want 1 '' rpcx call "$at" Arith.None
said "can't find method"
ok "client: calls, and errors that are strings"
stop

start listening rpcx serve netrpc+tcp://127.0.0.1:0 --on 'Arith.Multiply=jq:.A * .B' --on 'Arith.Divide=deny:not that'
address=$(field listening)
want 0 $'Arith.Multiply 56 <nil>\nArith.Divide 0 not that\nArith.None 0 rpc: can\'t find service Arith.None' ./netrpc -call "${address##*//}"
ok "server: calls and errors with Go's client"
