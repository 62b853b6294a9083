# Everything a newcomer needs: `make test` and `make reproduce` start from nothing.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: help test test-oldest check format reproduce reproduce-full bench bench-accuracy bench-drift bench-files bench-cluster docs clean

help:  ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

test: $(VENV)/installed  ## run the tests
	$(BIN)/python -m pytest -n auto

test-oldest: $(VENV)-oldest/installed  ## run the tests with the oldest supported versions
	$(VENV)-oldest/bin/python -m pytest -n auto

check: $(VENV)/installed  ## lint, types and imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

reproduce: $(VENV)/installed  ## the main job: every table and figure of the paper, in brief
	$(BIN)/skliquid reproduce

reproduce-full: $(VENV)/installed  ## the same with the paper's numbers of trials, in an hour or so
	$(BIN)/skliquid reproduce --full

bench: $(VENV)/installed  ## speed, as ratios to the alternatives in the same run
	$(BIN)/python benchmarks/linear_pool.py

bench-accuracy: $(VENV)/installed  ## accuracy against what one would pick instead, in half an hour or so
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/accuracy.py --jobs 2

bench-drift: $(VENV)/installed  ## streams that drift, against river's forests, in a quarter of an hour
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/drift.py --write docs/drift.md --figure docs/images/drift.png

bench-cluster: $(VENV)/installed  ## when a cluster pays, by processes on this machine, in some minutes
	$(BIN)/python benchmarks/cluster.py

bench-files: $(VENV)/installed  ## memory and rows a second on a file of 2 GB, in half an hour or so
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(BIN)/python benchmarks/large_files.py

docs: $(VENV)/installed  ## the pages of docs/ and the API, as a site in out/docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs out/docs
	@echo "Open out/docs/index.html"

clean:  ## remove what the other targets made
	rm -rf out $(VENV) $(VENV)-oldest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

# Installing is done once, and again only when pyproject.toml or the oldest versions change.

$(VENV)/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		f"skliquid needs Python 3.11 or newer, and $(PYTHON) is {sys.version.split()[0]}: make PYTHON=python3.11")'
	@echo "Installing into $(VENV), once."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,check]'
	@touch $@

$(VENV)-oldest/installed: pyproject.toml tests/oldest.txt
	@echo "Installing the oldest supported versions into $(VENV)-oldest, once."
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint tests/oldest.txt --editable '.[test]'
	@touch $@
