# make demo and make test need only GNU make and Python 3.11 or newer (with venv and pip).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
INPUTS := pyproject.toml constraints.txt

.PHONY: help demo test test-slow lint format clean

help:
	@echo "make demo       install, then reconstruct a simulated lineage; results in demo-run/"
	@echo "make test       install, then run the tests and the examples in the documentation"
	@echo "make test-slow  the statistical proofs and large inputs that make test leaves out"
	@echo "make lint       ruff, mypy and import-linter"
	@echo "make format     let ruff format the code and fix what it can"
	@echo "make clean      remove caches and demo-run/ (not $(VENV)/)"

demo: $(VENV)/.installed-plot
	@$(BIN)/celltreeqm demo -o demo-run

# One thread each and a fixed hash seed: the same run everywhere.
test test-slow: export PYTHONHASHSEED = 0
test test-slow: export OMP_NUM_THREADS = 1
test test-slow: export OPENBLAS_NUM_THREADS = 1
test test-slow: export MKL_NUM_THREADS = 1
test test-slow: export NUMBA_NUM_THREADS = 1
test test-slow: export MPLBACKEND = agg

test: $(VENV)/.installed-all
	@$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.installed-all
	@$(BIN)/python -m pytest -m slow

lint: $(VENV)/.installed-all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf demo-run build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "celltreeqm needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing)." \
	    "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.installed-plot: $(INPUTS) | $(BIN)/python
	@echo "Installing celltreeqm into $(VENV) (the first time takes a minute or two)."
	@$(PIP_INSTALL) -e '.[plot]'
	@touch $@

$(VENV)/.installed-all: $(INPUTS) | $(BIN)/python
	@echo "Installing celltreeqm with all extras and the test tools into $(VENV) (the first time takes some minutes)."
	@$(PIP_INSTALL) -e '.[all,test,dev]'
	@touch $@ $(VENV)/.installed-plot
