#!/usr/bin/env bash
# the qmp dialect: QEMU, which sends a greeting and early events, and its guest agent, which sends no greeting
. "$INTEROP/lib.sh"
needs qemu-system-x86_64 qemu-ga

qemu='qmp+exec:qemu-system-x86_64 -M none -nodefaults -display none -qmp stdio'
want 0 '"none"' rpcx call "$qemu" query-machines -q '[.[].name | select(. == "none")][0]'
want 0 true rpcx describe "$qemu" -q '[.methods[].name] | contains(["query-status","quit"])'
want 1 '' rpcx call "$qemu" nosuch
said 'nosuch: The command nosuch has not been found \(code CommandNotFound\)'
want 1 '' rpcx call "$qemu" qom-get path=/nosuch property=x
said 'code DeviceNotFound'
want 0 '{"guest":false,"reason":"host-qmp-quit"}' rpcx subscribe "$qemu" quit --method SHUTDOWN --count 1 -q '{guest, reason}'
ok "commands, errors with their class, the catalog, an event"
want 0 1 sh -c 'echo "{\"execute\":\"query-version\"}" | rpcx connect "$1" | grep -c "\"major\""' - "$qemu"
ok "connect with a pipe as its input"

qemu-ga -m unix-listen -p "$PWD/ga.sock" -t "$PWD" -f "$PWD/ga.pid" >/dev/null 2>&1 &
started+=("$!")
want 0 true rpcx call "qmp+unix:$PWD/ga.sock" guest-info -q '.supported_commands | length > 10' --wait 10s
want 0 12345 rpcx call "qmp+unix:$PWD/ga.sock" guest-sync-delimited id:=12345
want 1 '' rpcx call "qmp+unix:$PWD/ga.sock" nosuch
want 0 true rpcx describe "qmp+unix:$PWD/ga.sock" -q '[.methods[].name] | contains(["guest-ping"])'
ok "the guest agent: no greeting, a byte before a response"

want 0 '' found "$qemu" --try query-status --try 'qom-get={"path":"/","property":"type"}' --try stop --try cont
want 0 '' found "qmp+unix:$PWD/ga.sock" --try guest-info --try guest-get-time
ok "validate finds no problem in QEMU or its guest agent"
