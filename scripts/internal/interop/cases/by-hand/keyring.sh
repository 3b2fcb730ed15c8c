#!/usr/bin/env bash
# GNOME's keyring: rpcx stores tokens in an open keyring, and never unlocks it
. "$INTEROP/lib.sh"
needs dbus-run-session dbus-send gnome-keyring-daemon

at=http://127.0.0.1:9/mcp
export HOME=$PWD
cat >inside.sh <<'IN'
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 &
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets 2>/dev/null |
  grep -q true; do sleep 0.1; done
echo first-token | rpcx auth login "$1" --with-token
grep -l first-token state/rpcx/logins/*.json
rpcx auth token "$1"
sed 's/:9/:8/' state/rpcx/logins/*.json >other
install -m 600 other state/rpcx/logins/other.json
rpcx auth token "${1/:9/:8}"; echo "status $?"
rm state/rpcx/logins/other.json
dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets org.freedesktop.Secret.Service.Lock \
  array:objpath:/org/freedesktop/secrets/collection/login >/dev/null
rpcx call "$1" x --timeout 5s; echo "status $?"
echo second-token | rpcx auth login "$1" --with-token
rpcx auth token "$1"
rpcx auth logout "$1"
IN
want 0 '{"resource":"http://127.0.0.1:9/mcp","renewable":false,"kept":"keyring"}
first-token
status 6
status 6
{"resource":"http://127.0.0.1:9/mcp","renewable":false,"kept":"file"}
second-token' timeout 60 dbus-run-session -- bash inside.sh "$at"
said 'is in the keyring, which cannot be read: there is no unlocked keyring'
said 'is in the keyring, which cannot be read: it is not in the keyring'
ok "tokens are stored in an unlocked keyring; status 6 if it is locked or the item is missing"
