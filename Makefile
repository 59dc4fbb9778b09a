# Two commands do everything on a machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=

.PHONY: setup demo test test-long lint format bench plugins clean

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quire needs Python 3.11 or newer; set PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(STAMP)

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/demo.sh

test: $(STAMP)
	$(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

# Every call of every sweep, every example, every command from a fresh start.
test-long: $(STAMP)
	QUIRE_LONG_TESTS=1 $(BIN)/python -m pytest -n auto $(PYTEST_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m benchmarks

# The ready folders for clients that take plugins; run it when a text or the version changes.
plugins: $(STAMP)
	$(BIN)/python tools/make_plugins.py

clean:
	rm -rf $(VENV) tests/clients/node_modules build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
