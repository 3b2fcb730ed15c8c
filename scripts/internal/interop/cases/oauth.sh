#!/usr/bin/env bash
# logins with oidc-provider: with and without registration, on a device, and with client credentials
. "$INTEROP/lib.sh"
needs_packages
needs jq
export BROWSER="$INTEROP/clients/browser.mjs"

node -e 'const { generateKeyPairSync } = require("crypto"); const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  require("fs").writeFileSync("key.pem", privateKey.export({ type: "pkcs8", format: "pem" }));'
printf %s 'a:secret/of+ci%' >basic.secret
printf %s 'secret-of-post' >post.secret

# begin yes|no: starts the server with or without registration, and sets $at.
begin() {
  start '^\{' node "$INTEROP/servers/oidc.mjs" "$1" key.pem
  at=$(field at)
}
# login ARGS: logs in, and checks that the output contains no token.
login() { rpcx auth login "$at" --timeout 30s "$@" >login.json 2>login.log || { cat login.log >&2; return 1; }; }

begin yes
want 6 '' rpcx call "$at" whoami
login --auth-param prompt=consent
want 0 '"ann"' rpcx call "$at" whoami -q .user
want 0 '{"renewable":true,"scope":"read"}' jq -cS '{renewable, scope}' login.json
RPCX_ERRORS=json rpcx call "$at" write 2>err.json || true
mapfile -t fix < <(jq -r '.error.fix[]' err.json)
want 0 'rpcx auth login --scope=read offline_access write' echo "${fix[@]:0:3}" "${fix[@]:4}"
login "${fix[4]}" --auth-param prompt=consent
want 0 'true' rpcx call "$at" write -q '.scope | contains("write")'
ok "with registration: login in a browser, consent, additional scopes"

# A token is valid for 20 s, and rpcx renews it 30 s before it expires, so every command renews it, even if ten commands run at once.
# The provider revokes all tokens if a client uses a refresh token twice.
token=$(rpcx auth token "$at")
for i in 1 2 3 4 5 6 7 8 9 10; do rpcx call "$at" whoami -q .user >"out$i" & pids[i]=$!; done
wait "${pids[@]}" || bad=1
want 0 '10' sh -c 'cat out* | grep -c ann'
want 0 'yes' sh -c '[ "$1" != "$(rpcx auth token "$2")" ] && echo yes' - "$token" "$at"
token=$(rpcx auth token "$at")
want 0 '' rpcx auth logout "$at"
want 6 '' rpcx call "$at" whoami -H "Authorization: Bearer $token"
ok "one process at a time renews the token; logout revokes it"
stop

begin no
want 6 '' rpcx auth login "$at" --timeout 30s
said 'client-id'
login --client-id laptop
want 0 '"laptop"' rpcx call "$at" whoami -q .client
rpcx auth logout "$at"
ok "without registration: login with a client id"

start 'visit (.*) and type the code (.*)' rpcx auth login "$at" --client-id tv --device --timeout 60s
pid=$server page=${BASH_REMATCH[1]} code=${BASH_REMATCH[2]}
"$BROWSER" "$page" "user_code=$code" confirm=yes
wait "$pid" || bad=1
want 0 '"tv"' rpcx call "$at" whoami -q .client
rpcx auth logout "$at"
ok "login on another device (--device)"

login --client-credentials --client-id ci-basic --client-secret @basic.secret --scope read
want 0 '"ci-basic"' rpcx call "$at" whoami -q .client
rpcx auth logout "$at"
login --client-credentials --client-id ci-post --client-secret @post.secret
want 0 '"ci-post"' rpcx call "$at" whoami -q .client
rpcx auth logout "$at"
login --client-credentials --client-id ci-key --client-key key.pem
want 0 '"ci-key"' rpcx call "$at" whoami -q .client
rpcx auth logout "$at"
printf wrong >wrong.secret
want 6 '' rpcx auth login "$at" --client-credentials --client-id ci-basic --client-secret @wrong.secret
said 'invalid_client'
ok "client credentials: a secret by basic and by post, and a key"
stop

# The defect is that the metadata of the authorization server names another server as the issuer.
start '^\{' node --input-type=module -e '
  import { createServer } from "node:http";
  const s = createServer((req, res) => {
    const at = `http://127.0.0.1:${s.address().port}`;
    const json = (status, v) => res.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(v));
    if (req.url.startsWith("/.well-known/oauth-protected")) json(200, { resource: at + "/rpc", authorization_servers: [at] });
    else if (req.url.startsWith("/.well-known/")) json(200, { issuer: "https://honest.example", token_endpoint: at + "/token", authorization_endpoint: at + "/authorize", code_challenge_methods_supported: ["S256"] });
    else json(401, {});
  }).listen(0, "127.0.0.1", () => console.log(JSON.stringify({ at: `http://127.0.0.1:${s.address().port}/rpc` })));'
want 5 '' rpcx auth login "$(field at)" --client-id laptop
said 'issuer is "https://honest.example"'
ok "metadata that names another server as the issuer is rejected"
