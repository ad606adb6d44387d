#!/bin/sh
# Drives the real Codex app-server, and a loop of function calls, with the memory as their tools:
# offline, without MCP.
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-python3}" -m integrations.codex.run
