#!/bin/sh
# Runs the official MCP conformance suite against memory-mcp serve, in both eras of the protocol.
# Give another command to start memory-mcp as arguments.
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-python3}" -m integrations.conformance.run "$@"
