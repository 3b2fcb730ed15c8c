#!/usr/bin/env bash
# Transmission with a dialect file of ten lines: a 409 reply has the header that all requests need
. "$INTEROP/lib.sh"
needs transmission-daemon

mkdir -p "$XDG_CONFIG_HOME/rpcx/dialects"
cat >"$XDG_CONFIG_HOME/rpcx/dialects/transmission.toml" <<'TOML'
name = "transmission"
source = "https://github.com/transmission/transmission/blob/main/docs/rpc-spec.md"
base = "none"
[names]
request = { method = "method", params = "arguments", id = "tag" }
response = { id = "tag", result = "arguments", message = "result" }
ok = { at = "result", is = "success" }
[http]
session = "X-Transmission-Session-Id"
again = 409
TOML
port=$(free_port)
mkdir daemon
cat >daemon/settings.json <<JSON
{"rpc-enabled":true,"rpc-port":$port,"rpc-bind-address":"127.0.0.1","rpc-whitelist-enabled":true,
 "bind-address-ipv4":"127.0.0.1","bind-address-ipv6":"::1","peer-port":0,"port-forwarding-enabled":false,
 "dht-enabled":false,"lpd-enabled":false,"pex-enabled":false,"utp-enabled":false,"download-dir":"$PWD/daemon"}
JSON
transmission-daemon --foreground --config-dir "$PWD/daemon" >daemon.log 2>&1 &
started+=("$!")
reachable "$port"
at=transmission+http://127.0.0.1:$port/transmission/rpc

want 0 true rpcx call "$at" session-get 'fields:=["version"]' --jq '.version | test("^[0-9]")'
want 0 '{"torrents":[]}' rpcx call "$at" torrent-get 'fields:=["id","name"]'
want 1 '' rpcx call "$at" nosuch
said 'nosuch: method name not recognized'
ok "calls and errors"

want 0 $'0\n0\n0' sh -c "printf '{\"method\":\"session-stats\"}\n%.0s' 1 2 3 | rpcx call '$at' --batch --jobs 3 --jq .result.torrentCount"
ok "concurrent calls, each of which can get a 409"
