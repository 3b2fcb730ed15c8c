#!/usr/bin/env bash
# the official MCP conformance suite and rpcx auth: auth/*, except dpop, wif-jwt-bearer and enterprise-managed
. "$INTEROP/lib.sh"
needs_packages
needs jq curl
export BROWSER="$INTEROP/clients/browser.mjs"

# scenario NAME ARGS: runs a scenario with the client. DEFECT selects a defect of the client.
scenario() {
  local name=$1
  shift
  timeout 60 "$INTEROP/clients/suite.sh" client --command "$INTEROP/clients/mcp-auth.sh" --scenario "$name" "$@" --output-dir "out-${DEFECT-}" >suite.log 2>&1
}

count=0
# pair DEFECT NAME ARGS: the scenario must pass without the defect, and fail with it.
pair() {
  local defect=$1
  shift
  if scenario "$@"; then
    count=$((count + 1))
  else
    bad=1
    { echo "$CASE: $* fails"; grep -aE 'FAILURE|WARNING|^rpcx|Passed' suite.log; } >&2
  fi
  if DEFECT=$defect scenario "$@"; then
    bad=1
    echo "$CASE: $* passes with a client that is $defect" >&2
  fi
}

for name in metadata-default metadata-var1 metadata-var2 metadata-var3 basic-cimd scope-from-www-authenticate scope-from-scopes-supported \
  scope-omitted-when-undefined token-endpoint-auth-basic token-endpoint-auth-post token-endpoint-auth-none pre-registration \
  2025-03-26-oauth-metadata-backcompat 2025-03-26-oauth-endpoint-fallback client-credentials-jwt client-credentials-basic; do
  pair silent "auth/$name"
done
pair careless auth/scope-retry-limit
ok "versions up to 2025-11-25, and client credentials: $count scenarios, each of which fails without a login or with a careless one"

count=0
for name in scope-step-up offline-access-scope offline-access-not-supported authorization-server-migration iss-supported iss-not-advertised; do
  pair silent "auth/$name" --spec-version 2026-07-28
done
for name in resource-mismatch iss-supported-missing iss-wrong-issuer iss-unexpected iss-normalized metadata-issuer-mismatch; do
  pair careless "auth/$name" --spec-version 2026-07-28
done
ok "version 2026-07-28: $count scenarios, each of which fails without a login or with a careless one"
