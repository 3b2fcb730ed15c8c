#!/bin/sh
# Runs the MCP conformance suite, which is written for a newer version of Node.js than the other cases need.
exec node --import "$INTEROP/clients/conformance-node.mjs" "$INTEROP/node_modules/.bin/conformance" "$@"
