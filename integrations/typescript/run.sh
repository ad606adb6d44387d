#!/bin/sh
# Installs the TypeScript clients of MCP here and drives memory-mcp with them, in a new empty home
# for each era. Needs Node.js 20 or newer. Give another command to start the server as arguments.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
[ $# -gt 0 ] || set -- memory-mcp
for era in legacy modern first; do
  MEMORY_MCP_HOME=$(mktemp -d)
  export MEMORY_MCP_HOME
  echo "== $era"
  node drive.mjs "$era" "$@"
  "$@" engine stop >/dev/null # it still writes what it has worked out
  rm -rf "$MEMORY_MCP_HOME"
done
