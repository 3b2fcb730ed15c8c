#!/bin/sh
# The conformance suite of MCP, which wants a newer Node than the oldest that we run on.
exec node --import "$INTEROP/clients/conformance-node.mjs" "$INTEROP/node_modules/.bin/conformance" "$@"
