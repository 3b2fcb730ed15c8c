#!/usr/bin/env bash
# the dap dialect: debugpy and lldb-dap (or lldb-vscode) with launch, breakpoint and expression
. "$INTEROP/lib.sh"
needs python3 gcc
lldb=$(compgen -c | grep -Exm1 'lldb-(dap|vscode)(-[0-9]+)?') || missing 'lldb-dap, or lldb-vscode,'
python3 -c 'import debugpy' 2>/dev/null || missing debugpy

hooks=(
  --on 'initialized=rpcx call @ setBreakpoints source:="{\"path\":\"$SOURCE\"}" breakpoints:="[{\"line\":$LINE}]" -q ".breakpoints[0].verified" >verified'
  --on 'stopped=rpcx eval @ "x * 2" >value; rpcx call @ continue threadId:="$(rpcx call @ threads -q ".threads[0].id")"'
)
cat >p.py <<'PY'
x = 41
x += 1
print(x)
PY
export SOURCE=$PWD/p.py LINE=3
want 0 null rpcx subscribe 'dap+exec:python3 -m debugpy.adapter' launch program="$SOURCE" console=internalConsole "${hooks[@]}" --method terminated --count 1 --record p.tape
want 0 'true
"84"' cat verified value
want 0 '' rpcx validate p.tape --strict
want 0 '' found 'dap+exec:python3 -m debugpy.adapter'
ok "debugpy, whose response to launch follows configurationDone; no problem on the tape or live"

cat >c.c <<'C'
#include <stdio.h>
int main(void) {
  int x = 41; x++;
  printf("%d\n", x);
  return 0;
}
C
gcc -g -O0 -o c c.c
export SOURCE=$PWD/c.c LINE=4
want 0 null rpcx subscribe "dap+exec:$lldb" launch program="$PWD/c" "${hooks[@]}" --method terminated --count 1
want 0 'true
"84"' cat verified value
ok "lldb: launch, a breakpoint, an expression there"
