# The commands of this repository. `make help` lists them.
#
# PYTHON=python3.12 chooses the interpreter, VENV=dir the environment (made when missing). Stamp files in the
# environment remember what is installed, so that nothing is installed twice.

PYTHON ?= python3
VENV ?= .venv
FUZZ_CASES ?= 100000
BENCH ?=
BENCH_DATA ?= ../shared/data
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
SHELL = /bin/bash

SOURCES := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find src native -type f \
	! -name '*.pyc' ! -name '*.so' ! -name '*.egg-info')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test develop lint format bench bench-publish docs docs-serve sdist sanitize clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.stamp-package  ## install, train on the packaged data set, print metrics and predictions
	@$(BIN)/longtail demo

test: lint  ## install, then ruff, mypy and pytest with coverage
	$(BIN)/python -m pytest --cov --cov-report=term

lint: $(VENV)/.stamp-package $(VENV)/.stamp-test  ## ruff and mypy alone
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.stamp-test  ## format the Python files and repair what ruff can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

develop: $(VENV)/.stamp-build $(VENV)/.stamp-test  ## an editable install; run it again after changes to C++
	$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $(VENV)/.stamp-package

docs: $(VENV)/.stamp-package $(VENV)/.stamp-docs  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in site/index.html"

docs-serve: $(VENV)/.stamp-package $(VENV)/.stamp-docs  ## show the documentation at http://localhost:8000 while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

bench: $(VENV)/.stamp-package  ## longtail beside its peers, each in its own environment; BENCH="--help" lists options
	LONGTAIL_BENCH_DATA="$(BENCH_DATA)" $(BIN)/python -m benchmarks.side_by_side.run $(BENCH)

bench-publish: $(VENV)/.stamp-package $(VENV)/.stamp-bench  ## keep what make bench found in benchmarks/results and docs/performance.md
	$(BIN)/python -m benchmarks.side_by_side.publish

sdist: $(VENV)/.stamp-build  ## pack the sources into dist/, build a wheel from the pack and try it in a new environment
	scripts/check_sdist.sh $(BIN)/python

sanitize:  ## fuzz a build with AddressSanitizer and UndefinedBehaviorSanitizer (Linux)
	scripts/sanitize.sh "$(PYTHON)" $(VENV)-sanitize $(FUZZ_CASES)

clean:  ## remove everything that was built, and the environments
	rm -rf $(VENV) $(VENV)-sanitize build dist site demo-model .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Environments -------------------------------------------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "longtail needs Python 3.10 or newer, PYTHON=$(PYTHON) is " + sys.version)'
	@$(PYTHON) -m venv $(VENV)

# The build tools live in the environment, so that a second build only compiles what changed. The second install adds
# CMake and Ninja where the machine has none that are new enough.
$(VENV)/.stamp-build: pyproject.toml | $(BIN)/python
	@$(PIP) install "scikit-build-core>=0.11" "nanobind>=2.4" build
	@$(BIN)/python -c 'from scikit_build_core.build import get_requires_for_build_wheel as r; print(*r(), sep="\n")' > $@
	@$(PIP) install -r $@

$(VENV)/.stamp-package: $(SOURCES) $(VENV)/.stamp-build
	@echo "Compiling and installing longtail (about a minute the first time) ..."
	@$(PIP) install --no-build-isolation .
	@touch $@

# longtail is installed by now: these add what its extras need.
$(VENV)/.stamp-test: pyproject.toml | $(VENV)/.stamp-package
	@$(PIP) install "longtail[test]"
	@touch $@

$(VENV)/.stamp-bench: pyproject.toml | $(VENV)/.stamp-package
	@$(PIP) install "longtail[bench]"
	@touch $@

$(VENV)/.stamp-docs: pyproject.toml | $(VENV)/.stamp-package
	@$(PIP) install "longtail[docs]"
	@touch $@
