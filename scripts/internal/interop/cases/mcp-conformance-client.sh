#!/usr/bin/env bash
# the official MCP conformance suite with rpcx as the client, in the versions from 2025-06-18 to 2026-07-28
. "$INTEROP/lib.sh"
needs_packages
needs jq

# The case leaves out auth/* (see mcp-auth), and sep-2640-*, whose scenarios test an extension for skills.
core=(tools_call json-schema-2020-12-preservation)
older=(initialize "${core[@]}" elicitation-sep1034-client-defaults sse-retry)
newer=("${core[@]}" request-metadata sep-2322-client-request-state http-standard-headers http-custom-headers http-invalid-tool-headers json-schema-ref-no-deref)

# passes VERSION SCENARIO...: runs client scenarios, which must pass.
passes() {
  local version=$1 scenario
  shift
  for scenario; do
    if ! "$INTEROP/clients/suite.sh" client --command "$INTEROP/clients/conformance.sh" --spec-version "$version" --scenario "$scenario" \
      --output-dir out >suite.log 2>&1; then
      bad=1
      cat suite.log >&2
    fi
  done
  ok "version $version: $# scenarios"
}

passes 2025-06-18 initialize tools_call
passes 2025-11-25 "${older[@]}"
passes 2026-07-28 "${newer[@]}"

cat >defect.sh <<SH2
#!/bin/sh
exec rpcx call "mcp+\$1" test_custom_headers '{"region":"us","priority":1,"query":""}' --header 'Mcp-Param-Region: eu'
SH2
chmod 755 defect.sh
want 1 '' sh -c "'$INTEROP/clients/suite.sh' client --command ./defect.sh --spec-version 2026-07-28 --scenario http-custom-headers >defect.log 2>&1"
ok "the suite detects a planted defect in the client"
