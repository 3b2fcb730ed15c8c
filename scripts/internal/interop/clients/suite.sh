#!/bin/sh
# This program runs the MCP conformance suite, which needs a newer version of Node than rpcx's other cases.
exec node --import "$INTEROP/clients/conformance-node.mjs" "$INTEROP/node_modules/.bin/conformance" "$@"
