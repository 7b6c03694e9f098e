# Two commands do everything on a machine that has Python and make:
#   make demo    train a digit classifier with a compiled gradient
#   make test    lint, import contract, doctests, tests
# Everything lives in the checkout: the environment in .venv, caches in there too.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-cache-dir
WORKERS ?= 2

export MPLCONFIGDIR := $(CURDIR)/$(VENV)/matplotlib
export MPLBACKEND := Agg

.PHONY: help demo test bench format clean

help:
	@sed -n '2,3p' Makefile | sed 's/^# *//'
	@echo "make bench   ratios against hand-written adjoints, HIPS autograd, torch and jax"
	@echo "make format  let ruff put the source in order"
	@echo "make clean   remove the environment and everything generated"

demo: $(VENV)/.installed-demo
	@echo "== demo: examples/digits.py"
	@$(BIN)/python examples/digits.py

test: $(VENV)/.installed-test
	@echo "== ruff check"
	@$(BIN)/ruff check .
	@echo "== ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "== import contract"
	@$(BIN)/lint-imports --no-logo --cache-dir $(VENV)/import-linter
	@echo "== doctests and tests, $(WORKERS) at a time"
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

bench: $(VENV)/.installed-bench
	@echo "== benchmarks: time ratios in one process"
	@$(BIN)/python -m benchmarks

format: $(VENV)/.installed-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist s2sgrad.egg-info examples/output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp a set of extras: installed again only when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@echo "== installing s2sgrad[$*] into $(VENV)"
	@$(PIP) install --quiet --progress-bar off --editable ".[$*]"
	@touch $@

$(BIN)/python:
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "s2sgrad needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...")'
	@$(PYTHON) -m venv $(VENV)
