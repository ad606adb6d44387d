# Two commands do everything on a machine with Python 3.11+, git and make:
#   make demo    set up, then show the memory at work through a real MCP client
#   make test    set up, then run the tests

VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
UV     := $(shell command -v uv 2>/dev/null)

QUALITY := $(if $(LOCOMO),--locomo "$(LOCOMO)") $(if $(XQUAD),--xquad "$(XQUAD)")

.DEFAULT_GOAL := help
.PHONY: help setup demo test clients conformance smoke functions bundle check fix bench bench-check clean

help:
	@echo "make demo   set up, then show the memory at work"
	@echo "make test   set up, then run the tests"
	@echo "make clients  drive the server with clients of other makes (needs Node.js 20+)"
	@echo "make conformance  the official MCP conformance suite against our HTTP server (needs npm)"
	@echo "make smoke  Claude Code and Codex, the real programs, offline, on one memory (needs npm)"
	@echo "make functions  the tools without MCP: Codex's dynamic tools, a loop of function calls (needs npm)"
	@echo "make bundle  memory-mcp.mcpb, the bundle for Claude Desktop"
	@echo "make check  format, lint, types, layers"
	@echo "make fix    format and repair what lint can repair"
	@echo "make bench  speed, size and search quality of this version"
	@echo "make bench-check  fail where search quality fell (LOCOMO=DIR XQUAD=DIR add public data)"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3" >&2; exit 1; }
ifneq ($(UV),)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" $(VENV)
	VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --compile-bytecode -e '.[dev]'
else
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
endif
	@touch $@

demo: setup
	$(BIN)/memory-mcp demo

test: setup
	$(BIN)/python -m pytest -n 2 -m "not slow"
	$(BIN)/python -m pytest -m slow

clients: setup
	sh integrations/typescript/run.sh "$(CURDIR)/$(BIN)/memory-mcp"

conformance: setup
	PYTHON="$(CURDIR)/$(BIN)/python" sh integrations/conformance/run.sh "$(CURDIR)/$(BIN)/memory-mcp"

smoke: setup
	PYTHON="$(CURDIR)/$(BIN)/python" sh integrations/smoke/run.sh "$(CURDIR)/$(BIN)/memory-mcp"

functions: setup
	PYTHON="$(CURDIR)/$(BIN)/python" sh integrations/codex/run.sh

bundle: setup
	$(BIN)/python integrations/desktop/build.py memory-mcp.mcpb

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.house

fix: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/index.py
	$(BIN)/python benchmarks/models.py
	$(BIN)/python -m benchmarks.speed --passages 1000
	$(BIN)/python -m benchmarks.quality $(QUALITY)

bench-check: setup
	$(BIN)/python -m benchmarks.quality $(QUALITY) --check

clean:
	rm -rf $(VENV) dist build
