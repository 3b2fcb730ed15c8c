#!/usr/bin/env bash
# the dap dialect: Delve with launch, breakpoint and expression, checked with rpcx validate
. "$INTEROP/lib.sh"
needs go
needs_built dlv github.com/go-delve/delve/cmd/dlv

mkdir prog
cat >prog/main.go <<'GO'
package main

func main() {
	x := 41
	x++
	println(x)
}
GO
(cd prog && go mod init prog 2>/dev/null && go build -trimpath -gcflags='-N -l' -o prog .)
launch=(launch mode=exec program="$PWD/prog/prog" substitutePath:="[{\"from\":\"$PWD/prog\",\"to\":\"prog\"}]")
start 'listening at' dlv dap --check-go-version=false --listen=127.0.0.1:0
at=dap+tcp://${line##* }

rpcx connect "$at" --session dbg
rpcx subscribe @dbg --method initialized --count 1 --for 60s >initialized 2>&1 &
waits=$!
started+=("$waits")
want 0 null rpcx call @dbg "${launch[@]}"
wait "$waits"
want 0 true rpcx call @dbg setBreakpoints source:="{\"path\":\"$PWD/prog/main.go\"}" breakpoints:='[{"line":5}]' -q '.breakpoints[0].verified'
want 0 null rpcx call @dbg configurationDone
want 0 '"breakpoint"' rpcx subscribe @dbg --since 0 --method stopped --count 1 --for 60s -q .reason
thread=$(rpcx call @dbg threads -q '.threads[0].id')
frame=$(rpcx call @dbg stackTrace threadId:="$thread" -q '.stackFrames[0].id')
want 0 '"41"' rpcx call @dbg evaluate expression=x frameId:="$frame" -q .result
want 1 '' rpcx call @dbg evaluate expression=nosuch frameId:="$frame"
said 'could not find symbol'
want 0 '' rpcx session close dbg
ok "launch, a breakpoint, an expression there, close"

# The hooks set a breakpoint, and print the value of an expression there.
hooks=(
  --on 'initialized=rpcx call @ setBreakpoints source:="{\"path\":\"$SOURCE\"}" breakpoints:="[{\"line\":$LINE}]" -q ".breakpoints[0].verified" >verified'
  --on 'stopped=rpcx eval @ x >value; rpcx call @ continue threadId:="$(rpcx call @ threads -q ".threads[0].id")"'
)
export SOURCE=$PWD/prog/main.go LINE=5
want 0 '{}' rpcx subscribe dap+accept+tcp://127.0.0.1:0 "${launch[@]}" "${hooks[@]}" --method terminated --count 1 --record d.tape \
  -- dlv dap --check-go-version=false '--client-addr=127.0.0.1:{port}'
want 0 '"41"' cat value
ok "one command, to which the debugger connects: launch, a hook that sets a breakpoint, an expression there"
want 0 '' rpcx validate d.tape --strict
sed '0,/"command":"evaluate","body"/s//"command":"","body"/' d.tape >defect.tape
rpcx validate defect.tape >lines || true
want 0 'must response-command' broken lines
ok "the conversation has no problem; validate detects a planted response without its command"
