# Two commands do everything on a machine with Python 3.11+, git and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=

PAGE := src/quire/surfaces/web/static/build.json
PAGE_SOURCES := $(shell find viewer/src -type f) viewer/build.mjs viewer/package.json viewer/package-lock.json

TALLY := build/tally.jsonl

# Without the bytecode of the last run, every worker compiles all tests again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup demo test proof fuzz soak lint format size reference bench plugins viewer screenshots clean

setup: $(STAMP) $(PAGE)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Quire needs Python 3.11 or newer; set PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(STAMP)

# The local page; installing builds it, and so does every target below whose sources changed since.
$(PAGE): $(PAGE_SOURCES) tools/build_viewer.py | $(STAMP)
	@$(BIN)/python tools/build_viewer.py
	@if [ -f $@ ]; then touch $@; fi

viewer: $(PAGE)

demo: $(STAMP) $(PAGE)
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh tools/demo.sh

test: $(STAMP) $(PAGE)
	$(BIN)/python -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

# Everything in full: every sweep, every call of it, every example; what was tried for
# each promise is added up in docs/concepts/promises.md.
proof: $(STAMP) $(PAGE)
	@mkdir -p $(dir $(TALLY)) && rm -f $(TALLY)
	QUIRE_LONG_TESTS=1 QUIRE_TALLY=$(CURDIR)/$(TALLY) $(BIN)/python -m pytest -n auto --dist worksteal -o faulthandler_timeout=7200 $(PYTEST_ARGS)
	@$(BIN)/python tests/promises/proof.py $(TALLY) "make proof"

# Every parser, fed with what nobody would write: FUZZ_ARGS="--minutes 30".
fuzz: $(STAMP)
	$(BIN)/python tools/fuzz.py $(FUZZ_ARGS)

# Hook, server, page and commands at once for minutes, and a hundred thousand records: SOAK_ARGS="--minutes 10".
soak: $(STAMP) $(PAGE)
	$(BIN)/python -m benchmarks.soak $(SOAK_ARGS)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/build_viewer.py --check

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The table of packages that ARCHITECTURE.md shows.
size: $(STAMP)
	@$(BIN)/python tools/size.py

# What the reference pages repeat of declarations: options, arguments, limits.
reference: $(STAMP)
	$(BIN)/python tools/make_reference.py

bench: $(STAMP) $(PAGE)
	$(BIN)/python -m benchmarks

# The ready folders for clients that take plugins; run it when a text or the version changes.
plugins: $(STAMP)
	$(BIN)/python tools/make_plugins.py

# The pictures in docs/images, taken of a sample project.
screenshots: $(STAMP) $(PAGE)
	$(BIN)/python tools/take_screenshots.py

clean:
	rm -rf $(VENV) tests/clients/node_modules viewer/node_modules src/quire/surfaces/web/static build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
