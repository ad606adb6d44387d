#!/bin/sh
# Installs Claude Code and Codex here and drives them, offline, against memory-mcp.
# Give another command to start the server as arguments.
set -eu
cd "$(dirname "$0")/../.."
exec "${PYTHON:-python3}" -m integrations.smoke.run "$@"
