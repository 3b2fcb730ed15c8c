#!/usr/bin/env bash
# the qmp dialect: go-qemu, whose commands lack ids and line breaks, as the client of rpcx serve
. "$INTEROP/lib.sh"
needs_built qmp .

start listening rpcx serve "qmp+unix:$PWD/q.sock" --on 'query-name=json:{"name":"vm"}' --on 'add=jq:.a + .b' --on 'stop=rpcx call @ --notify STOP reason=x && echo {}'
want 0 $'{"return":{"name":"vm"}} <nil>\n method not found: nosuch\n{"return":3} <nil>\nevent STOP map[reason:x]' rpcx record "qmp+unix:$PWD/r.sock" --to "qmp+unix:$PWD/q.sock" -o q.tape -- qmp "$PWD/r.sock"
want 0 '' rpcx validate q.tape --strict
ok "commands, an error and an event, with no problem on the tape"
