# Every verb needs nothing but python3 with venv; the environment is made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Corpora are never part of the project; where the developers' copies lie beside it, use them.
ifeq ($(origin THRESHER_DATA), undefined)
ifneq ($(wildcard ../shared/data),)
export THRESHER_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: help demo test lint docs bench clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(PIP) install --editable .
	@touch $@

$(VENV)/.developing: $(VENV)/.made pyproject.toml
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.documenting: $(VENV)/.made pyproject.toml
	$(PIP) install --editable '.[docs]'
	@touch $@

demo: $(VENV)/.installed  ## install, then sort the documentation of Python's own library into its packages
	$(BIN)/thresher demo

test: $(VENV)/.developing  ## install, then run every test
	$(BIN)/python -m pytest --numprocesses=auto $(ARGS)

lint: $(VENV)/.developing  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.documenting  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:  ## remove everything that was made
	rm -rf $(VENV) .venv-bench build dist site demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
