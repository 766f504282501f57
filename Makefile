# Every verb needs nothing but python3 with venv; the environment is made on first use.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BASE := .venv-base
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

# Corpora are never part of the project; where the developers' copies lie beside it, use them.
ifeq ($(origin THRESHER_DATA), undefined)
ifneq ($(wildcard ../shared/data),)
export THRESHER_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: help demo test test-all explore fuzz soak base slowly checked lint docs papers bench bench-quality bench-feedback bench-boosting bench-concepts bench-learners bench-neighbors bench-unlabelled clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

$(VENV)/.made:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Both distributions of the project: the library, and the papers that it reproduces.
PROJECTS := pyproject.toml papers/pyproject.toml

$(VENV)/.installed: $(VENV)/.made $(PROJECTS)
	$(PIP) install --editable . --editable ./papers
	@touch $@

$(VENV)/.developing: $(VENV)/.made $(PROJECTS)
	$(PIP) install --editable '.[dev]' --editable ./papers
	@touch $@ $(VENV)/.installed

$(VENV)/.documenting: $(VENV)/.made $(PROJECTS)
	$(PIP) install --editable '.[docs]' --editable ./papers
	@touch $@

demo: $(VENV)/.installed  ## install, then sort the documentation of Python's own library into its packages
	$(BIN)/thresher demo

test: $(VENV)/.developing  ## install, then run the tests, without the slow ones
	$(BIN)/python -m pytest --numprocesses=auto -m "not slow" $(ARGS)

test-all: $(VENV)/.developing  ## all tests: slow ones, and more examples of each property
	THRESHER_TESTS=thorough $(BIN)/python -m pytest --numprocesses=auto $(ARGS)

explore: $(VENV)/.developing  ## look for what breaks a promise: the property tests on many new examples
	THRESHER_TESTS=explore $(BIN)/python -m pytest --numprocesses=auto -m hypothesis $(ARGS)

fuzz: $(VENV)/.developing  ## try to break it: mutated files, kills, full disks, threads; what fails is kept
	$(BIN)/python -m fuzz $(ARGS)

HOURS ?= 1
soak: $(VENV)/.developing  ## learn, predict, save, be killed and come back, for HOURS=1
	$(BIN)/python -m fuzz.soak --hours $(HOURS) $(ARGS)

# Three legs beside `test`: what the base installation can do, kernels as plain Python, and kernels
# that check every index.
$(BASE)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BASE)
	$(BASE)/bin/python -m pip --disable-pip-version-check --quiet install --editable . pytest hypothesis
	@touch $@

base: $(BASE)/.installed  ## what must work without any extra installed
	THRESHER_BASE=1 $(BASE)/bin/python -m pytest -q tests/test_base.py $(ARGS)

slowly: $(VENV)/.developing  ## kernels against their twins, with the compiler off
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q --numprocesses=auto tests/kernels/test_online_kernels.py tests/promises/test_golden.py \
	  tests/features/test_concepts.py tests/learners/test_boosting.py tests/learners/test_perceptrons.py tests/learners/test_network.py tests/learners/test_neighbors.py \
	  tests/model/test_second_look_judges.py tests/learners/test_tree.py::test_the_tree_is_that_of_the_twin $(ARGS)

checked: $(VENV)/.developing  ## the same and more, with every index checked
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -q --numprocesses=auto \
	  tests/kernels/test_online_kernels.py tests/promises/test_golden.py tests/model/test_learn_undo.py tests/test_examples.py tests/features/test_concepts.py tests/learners/test_boosting.py \
	  tests/learners/test_perceptrons.py tests/learners/test_network.py tests/learners/test_neighbors.py tests/learners/test_tree.py tests/learners/test_maxent.py \
	  tests/model/test_reader.py tests/model/test_second_look.py tests/model/test_second_look_judges.py $(ARGS)

lint: $(VENV)/.developing  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.documenting  ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

$(BENCH)/.installed: pyproject.toml benchmarks/requirements-peers.txt
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip --disable-pip-version-check --quiet install --editable '.[plots,scikit-learn]'
	@grep -v '^ *\(#\|$$\)' benchmarks/requirements-peers.txt | while read -r peer; do \
	  $(BENCH)/bin/python -m pip --disable-pip-version-check --quiet install "$$peer" \
	    || echo "$$peer could not be installed; the benchmark will say that it is missing"; \
	done
	@touch $@

papers: $(VENV)/.developing  ## run every experiment of the five works, and write docs/papers.md; what is finished is kept
	$(BIN)/thresher paper page docs/papers.md $(ARGS)

bench: $(BENCH)/.installed  ## race the peers: speed, memory and quality in one run
	$(BENCH)/bin/python -m benchmarks.peers $(ARGS)

bench-quality: $(BENCH)/.installed  ## race the peers for quality: eight tasks; what is finished is kept
	$(BENCH)/bin/python -m benchmarks.quality $(ARGS)

bench-feedback: $(VENV)/.installed  ## what corrections, days of documents and a new category do to a model
	$(BIN)/python benchmarks/feedback.py $(ARGS)

bench-unlabelled: $(VENV)/.developing  ## do concepts help, with few labels and with all
	$(BIN)/python benchmarks/unlabelled.py $(ARGS)

bench-concepts: $(VENV)/.developing  ## pLSA against scikit-learn's NMF: time and memory of an iteration
	$(BIN)/python benchmarks/concepts.py $(ARGS)

bench-boosting: $(VENV)/.developing  ## stumps: one category against scikit-learn, fifty with concepts
	$(BIN)/python benchmarks/boosting.py $(ARGS)

bench-neighbors: $(VENV)/.developing  ## the nearest documents, found against scikit-learn's brute force
	$(BIN)/python benchmarks/neighbors.py $(ARGS)

bench-learners: $(VENV)/.developing  ## every learner: quality, time, size, and beside scikit-learn's relative; what is finished is kept
	$(BIN)/python -m benchmarks.learners $(ARGS)

clean:  ## remove everything that was made
	rm -rf $(VENV) $(BENCH) $(BASE) build dist site demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
