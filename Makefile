# Everything a newcomer needs: `make test` and `make reproduce` install what they use.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
ifeq ($(origin CXX),default)
CXX = c++
endif
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

SOURCES = $(wildcard src/skliquid/native/*/*.cpp src/skliquid/native/*/*.hpp)

.PHONY: help test test-coverage test-docs test-oldest test-sanitized test-slow build debug check format reproduce reproduce-full docs clean \
	bench bench-start bench-trees bench-accuracy bench-contribution bench-choices bench-drift bench-explain bench-streams bench-files \
	bench-cluster bench-frames bench-large bench-limits bench-model-files bench-onnx bench-pruning bench-replay bench-scale bench-tabular \
	bench-weights mutants replay-page stress

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

test: $(VENV)/installed  ## run the tests
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/installed  ## run the tests that take half a minute or more
	$(BIN)/python -m pytest -n auto -m slow

test-coverage: $(VENV)/installed  ## run the tests and report which lines they cover, here and in out/coverage
	$(BIN)/python -m pytest -n auto --cov=skliquid --cov=reproduction --cov-report=term:skip-covered --cov-report=html:out/coverage
	@echo "Open out/coverage/index.html"

test-oldest: $(VENV)-oldest/installed  ## run the tests with the oldest supported versions
	$(VENV)-oldest/bin/python -m pytest -n auto

test-sanitized: $(VENV)-sanitized/installed  ## run the tests of pools, voters and the native core under ASan and UBSan
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(VENV)-sanitized/bin/python -m pytest -n auto tests/native tests/pools tests/voters

build: $(VENV)/installed  ## build the native core, if its sources have changed

debug: $(VENV)/installed  ## build the native core for a debugger: with line numbers, not optimized
	$(INSTALL) --editable . --config-settings=cmake.build-type=Debug
	@echo "Built for a debugger. To undo: touch CMakeLists.txt && make build"

check: $(VENV)/installed  ## lint, types, imports, the project's files and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(SOURCES)
	$(BIN)/repo-review --show err .
	$(BIN)/zizmor --offline --quiet --strict-collection .github

format: $(VENV)/installed  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(SOURCES)

reproduce: $(VENV)/installed  ## every table and figure of the paper, with few trials
	$(BIN)/python -m reproduction

reproduce-full: $(VENV)/installed  ## the same with the paper's numbers of trials, in an hour or so
	$(BIN)/python -m reproduction --full

bench: $(VENV)/installed  ## speed, as ratios to alternatives in the same run
	$(BIN)/python benchmarks/linear_pool.py

bench-scale: $(VENV)/installed  ## time and memory by numbers of sparse columns and of classes, in some minutes
	$(BIN)/python benchmarks/scale.py

bench-start: $(VENV)/installed  ## seconds and memory of importing skliquid and of a first fit, from an empty home
	$(BIN)/python benchmarks/start.py

bench-trees: $(VENV)/installed  ## growing trees and their accuracy, against scikit-learn's, in some minutes
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/trees.py

bench-accuracy: $(VENV)/installed  ## accuracy, probabilities and cost against other classifiers, in hours; goes on where it was stopped
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/accuracy.py --tables
	$(BIN)/python benchmarks/interactions.py
	$(BIN)/python benchmarks/evidence.py --write docs/results/accuracy.md --figure docs/images/accuracy.svg \
		--reliability docs/images/reliability.png
	$(BIN)/python benchmarks/trade_offs.py docs/results/accuracy.md docs/images/accuracy_for_cost.svg
	$(BIN)/python benchmarks/summary_table.py docs/results/accuracy.md docs/when_to_use.md README.md

bench-large: $(VENV)/installed  ## large data, against LightGBM with early stopping, in half an hour; goes on where it was stopped
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/large.py --threads --write docs/results/large.md

bench-limits: $(VENV)/installed  ## accuracy within limits of latency and bytes, against other ensembles, in some minutes
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/limits.py --write docs/results/limits.md --figure docs/images/limits.svg

bench-frames: $(VENV)/installed  ## data frames with categories: speed against LightGBM, in a quarter of an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/frames.py --write docs/results/frames.md

bench-contribution: $(VENV)/installed  ## delegation by contribution, by own accuracy and at random, in half an hour or so
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/contribution.py --jobs 2 --write docs/results/contribution.md

bench-pruning: $(VENV)/installed  ## delegation beside classical pruning methods, in a quarter of an hour; goes on where it was stopped
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/pruning.py --write docs/results/pruning.md --figure docs/images/pruning.svg

bench-tabular: $(VENV)/installed  ## encoders of tables, ours and skrub's, in a quarter of an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/tabular.py --write docs/results/tabular.md

bench-model-files: $(VENV)/installed  ## model files beside pickles: bytes, and time to save and load
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/model_files.py

bench-onnx: $(VENV)/installed  ## ONNX models: rows per second and size beside ours and scikit-learn's, in a minute
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/onnx_models.py --write docs/results/onnx.md

bench-choices: $(VENV)/installed  ## do optional mechanisms, schedules and vote weights pay? In some ten minutes
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/choices.py

bench-weights: $(VENV)/installed  ## vote weights in the default ensemble and in pruned forests, in half an hour or so; goes on where it was stopped
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/vote_weights.py --groups default --splits 4
	$(BIN)/python benchmarks/vote_weights.py --groups forests --splits 2 --write docs/results/vote_weights.md

bench-drift: $(VENV)/installed  ## streams with concept drift, against river's forests, in a quarter of an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/drift.py --write docs/drift.md --figure docs/images/drift.png

bench-explain: $(VENV)/installed  ## explanations: CPU seconds for 1,000 rows, beside shap on LightGBM and a forest, in some minutes
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/explain.py --write docs/results/explain.md

bench-streams: $(VENV)/installed  ## streams of river and of tables, against its adaptive random forest, in a quarter of an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/streams.py --write docs/results/streams.md

bench-cluster: $(VENV)/installed  ## data larger than memory: 10 GB on a Dask cluster of processes on this machine, in an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/cluster.py --write docs/results/cluster.md

bench-files: $(VENV)/installed  ## time, memory and scores of training on files of 5 million rows, in half an hour
	$(INSTALL) --editable . --group bench
	$(BIN)/python benchmarks/large_files.py --write docs/results/files.md

stress: $(VENV)/installed  ## try to break what docs/guarantees.md promises, in under an hour; goes on where it was stopped
	$(BIN)/python stress/run.py --resume --page docs/results/stress.md

docs: $(VENV)/installed-docs  ## the site: pages, gallery and API, in out/docs; only what has changed is made again
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -d out/doctrees docs out/docs
	@echo "Open out/docs/index.html"

test-docs: docs  ## build the site, and test its links and every page in a browser, if chromium is installed
	$(BIN)/python -m pytest -n 0 -m site tests/test_site.py

mutants: $(VENV)/installed  ## mutation testing of the algorithm: does a test fail when its code is changed? In half an hour or so
	$(INSTALL) --editable . --group mutants
	$(BIN)/python tools/mutants.py --write docs/results/mutants.md

replay-page:  ## rebuild the page of replays from tools/replay; needs node and npm
	cd tools/replay && npm ci --no-audit --no-fund && npm run build

bench-replay: $(VENV)/installed  ## frames per second of a replay in a browser, in a minute
	$(BIN)/python benchmarks/replay.py

clean:  ## remove what the other targets created
	rm -rf out docs/auto_examples $(VENV) $(VENV)-oldest $(VENV)-sanitized .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage

# Installing builds the native core: once, and again when its sources change.

define check_machine
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
		f"skliquid needs Python 3.11 or newer, and $(PYTHON) is {sys.version.split()[0]}: make PYTHON=python3.11")'
	@command -v $(CXX) >/dev/null || \
		{ echo "skliquid needs a C++17 compiler: install g++ or clang++ (on Debian and Ubuntu: apt install g++)."; exit 1; }
endef

$(VENV)/installed: pyproject.toml CMakeLists.txt $(SOURCES)
	$(check_machine)
	@echo "Installing into $(VENV), and building the native core."
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade 'pip>=25.1' # the first that knows groups
	$(INSTALL) --editable . --group dev
	@touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(INSTALL) --editable . --group docs
	@touch $@

$(VENV)-oldest/installed: pyproject.toml CMakeLists.txt $(SOURCES) tests/oldest.txt
	$(check_machine)
	@echo "Installing the oldest supported versions into $(VENV)-oldest."
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint tests/oldest.txt --editable . --group test
	@touch $@

$(VENV)-sanitized/installed: pyproject.toml CMakeLists.txt $(SOURCES)
	$(check_machine)
	@echo "Installing into $(VENV)-sanitized, with sanitizers."
	$(PYTHON) -m venv $(VENV)-sanitized
	$(VENV)-sanitized/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)-sanitized/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group test \
		--config-settings=cmake.build-type=RelWithDebInfo --config-settings=cmake.define.SKLIQUID_SANITIZE=ON
	@touch $@
