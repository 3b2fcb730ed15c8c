#!/usr/bin/env bash
# the dap dialect: Delve, from launch to a breakpoint to an expression
. "$INTEROP/lib.sh"
needs dlv go

mkdir prog
cat >prog/main.go <<'GO'
package main

import "fmt"

func main() {
	x := 41
	x++
	fmt.Println(x)
}
GO
(cd prog && go mod init prog 2>/dev/null && GOFLAGS='' go build -gcflags='all=-N -l' -o prog .)
start 'listening at' dlv dap --check-go-version=false --listen=127.0.0.1:0
at=dap+tcp://${line##* }

rpcx connect "$at" --session dbg
rpcx subscribe @dbg --method initialized --count 1 --for 60s >initialized 2>&1 &
waits=$!
started+=("$waits")
want 0 null rpcx call @dbg launch mode=exec program="$PWD/prog/prog"
wait "$waits"
want 0 true rpcx call @dbg setBreakpoints source:="{\"path\":\"$PWD/prog/main.go\"}" breakpoints:='[{"line":7}]' -q '.breakpoints[0].verified'
want 0 null rpcx call @dbg configurationDone
want 0 '"breakpoint"' rpcx subscribe @dbg --since 0 --method stopped --count 1 --for 60s -q .reason
thread=$(rpcx call @dbg threads -q '.threads[0].id')
frame=$(rpcx call @dbg stackTrace threadId:="$thread" -q '.stackFrames[0].id')
want 0 '"41"' rpcx call @dbg evaluate expression=x frameId:="$frame" -q .result
want 1 '' rpcx call @dbg evaluate expression=nosuch frameId:="$frame"
said 'could not find symbol'
want 0 '' rpcx session close dbg
ok "launch, a breakpoint, an expression at it, the end"

# stop prints what a debugger is told at a breakpoint: FILE LINE, in the hooks of one command.
hooks=(
  --on 'initialized=rpcx call @ setBreakpoints source:="{\"path\":\"$SOURCE\"}" breakpoints:="[{\"line\":$LINE}]" -q ".breakpoints[0].verified" >verified'
  --on 'stopped=rpcx eval @ x >value; rpcx call @ continue threadId:="$(rpcx call @ threads -q ".threads[0].id")"'
)
export SOURCE=$PWD/prog/main.go LINE=7
want 0 '{}' rpcx subscribe dap+accept+tcp://127.0.0.1:0 launch mode=exec program="$PWD/prog/prog" "${hooks[@]}" --method terminated --count 1 \
  -- dlv dap --check-go-version=false '--client-addr=127.0.0.1:{port}'
want 0 '"41"' cat value
ok "a debugger that dials us: launch, a breakpoint by a hook, an expression at it, in one command"
