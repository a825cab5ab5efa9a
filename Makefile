# The two commands: `make demo` and `make test`. Everything else is for developers.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
.DEFAULT_GOAL := help

# Where this is set, each of the many processes of a command compiles torch and the others again, for seconds: here it counts as not set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: cluster-test help setup demo test test-wheel wheels slow simulations red-team fuzz weights-test check format space real-editors three-users no-reference replication bench inspect referee verdicts goldens clean

help:  ## what there is
	@sed -n 's/^\([a-z-]*\):.*## /make \1	/p' $(MAKEFILE_LIST) | expand -t 22

# The demo's dataset is a folder ./convergebench. An editable install is looked up last, after such a folder: this file puts it
# before the path, unless PYTHONPATH has a copy of the package. (An ordinary install needs nothing of the kind: a package wins
# over a folder without __init__.py.)
EDITABLE_FIRST = cp .ci/editable_first.pth "$$(echo .venv/lib/python3*/site-packages)/zz_editable_first.pth"

# A venv is made once and filled again only when what it is made from changed. The demo needs less than the tests.
.venv/ready: pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) torch==2.13.0
	@$(PIP) --editable '.[score]'
	@$(EDITABLE_FIRST)
	@$(PIP) --no-deps lpips==0.1.4
	@touch $@

.venv/dev: .venv/ready
	@$(PIP) --editable '.[all,dev]'
	@touch $@

setup: .venv/dev  ## the environment in .venv

demo: .venv/ready  ## the whole way on embedded editors: chains, dataset, scores, report
	@$(BIN)/convergebench demo

# One worker a core, each with one thread: tests of a file stay together, so that what they share is made once.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile

test: .venv/dev  ## the default tests: no network, no weights, a few minutes
	$(PYTEST)

slow: .venv/dev  ## the tests that take minutes
	$(BIN)/python -m pytest -q -m slow

simulations: .venv/dev  ## what the statistics promise, tried on made-up editors: the tables of docs/statistics.md
	$(BIN)/python tests/simulations/write.py

weights-test: .venv/dev  ## the tests that fetch real weights from a registry
	$(BIN)/python -m pytest -q -m weights

# What a user gets: an ordinary install, in an environment of its own that sees the packages of .venv and not the checkout.
build/ordinary/ready: .venv/dev $(shell git ls-files -co --exclude-standard 2>/dev/null)
	@rm -rf build
	@$(BIN)/python -m venv --without-pip build/ordinary
	@$(BIN)/python -c "import sys; print(*(path for path in sys.path if 'site-packages' in path), sep='\n')" > "$$(echo build/ordinary/lib/python3*/site-packages)/packages.pth"
	@$(BIN)/python -m pip --quiet --disable-pip-version-check --python build/ordinary/bin/python install --no-deps --no-build-isolation .
	@rm -rf build/lib build/bdist.* && touch $@

check: .venv/dev build/ordinary/ready  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH="$$(echo build/ordinary/lib/python3*/site-packages)" $(BIN)/mypy

test-wheel: build/ordinary/ready  ## the default tests on an ordinary install
	OMP_NUM_THREADS=1 build/ordinary/bin/python -m pytest -q -n auto --dist loadfile

wheels: .venv/dev  ## the demo in environments made from the wheel alone, for each extra: sizes and times
	$(BIN)/python tests/wheels.py

format: .venv/dev  ## what a formatter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

space: .venv/dev  ## the Space on the demo's dataset, in a browser
	@test -e convergebench/README.md || $(BIN)/convergebench demo
	$(BIN)/convergebench space convergebench

red-team: .venv/dev  ## dishonest editors against honest ones, through everything: the table of docs/threats.md
	$(BIN)/python tests/red_team/run.py --honest waifu2x --honest migan --write

fuzz: .venv/dev  ## 2,000 seeded mutations of all that is read, and 4,000 flipped bits of scores: nothing silent, no traceback, no hang
	$(BIN)/python tests/fuzz/run.py
	$(BIN)/python -m pytest -q -s -m slow tests/dataset_builder/test_bit_flips.py

.PHONY: fuzz-guided faults
.venv/atheris: .venv/dev
	@$(PIP) atheris
	@touch $@

# It follows branches, so it takes the time that it is given: make fuzz-guided MINUTES=60
MINUTES ?= 10
fuzz-guided: .venv/atheris  ## all that reads bytes from outside, by atheris and hypothesis, for MINUTES: no traceback, nothing silent
	$(BIN)/python tests/fuzz/guided.py --minutes $(MINUTES)

faults: .venv/dev  ## 500 random faults in runs with money and without, and in datasets: the table of what came of them (half an hour)
	$(BIN)/python tests/faults/run.py

real-editors: .venv/dev  ## MI-GAN and waifu2x with their real weights: ten rounds on three pictures, curves drawn
	$(BIN)/python tests/benchmarks/weights/real_editors.py

three-users: .venv/dev  ## three users' tasks in Chromium on a Space of 12 editors: clicks and seconds
	$(BIN)/python tests/three_users.py

# Some of the peers need torchvision, which never stands beside us.
.venv-peers/ready: tests/benchmarks/peers/requirements.txt
	@echo "setting up .venv-peers (a minute or two the first time)"
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

no-reference: .venv/dev .venv-peers/ready  ## metrics without a reference beside published numbers, and beside pyiqa's own classes
	$(BIN)/python tests/benchmarks/no_reference.py
	.venv-peers/bin/python tests/benchmarks/peers/beside_pyiqa.py

replication: .venv/dev  ## a copy of a copy a hundred times, by small editors: which metric is fooled by which picture
	$(BIN)/python tests/benchmarks/replication.py

bench: .venv/dev .venv-peers/ready  ## the benchmarks, us beside our peers
	@for file in tests/benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# inspect-ai asks for an older fsspec than the others take: it has an environment of its own, without pinned versions.
.venv-inspect/ready: pyproject.toml
	@echo "setting up .venv-inspect (a minute or two the first time)"
	@test -x .venv-inspect/bin/python || $(PYTHON) -m venv .venv-inspect
	@.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[inspect,score]' pytest
	@touch $@

inspect: .venv-inspect/ready  ## the task for Inspect, killed twenty times too
	.venv-inspect/bin/python -m pytest -q -s -m "slow or not slow" tests/harness/test_inspect.py

# Ray stands beside our packages, not among them; the tests of it are left out where this was not made.
.venv-cluster/ready: .venv/dev
	@test -x .venv-cluster/bin/python || .venv/bin/python -m venv .venv-cluster
	@.venv-cluster/bin/python -c "import sysconfig, pathlib; own = pathlib.Path(sysconfig.get_path('purelib')); \
		base = pathlib.Path('.venv').resolve() / own.relative_to(pathlib.Path('.venv-cluster').resolve()); \
		(own / 'base.pth').write_text(f'import site; site.addsitedir({str(base)!r})')"
	@.venv-cluster/bin/python -m pip install --quiet --disable-pip-version-check ray==2.60.0
	@touch $@

cluster-test: .venv-cluster/ready  ## the same scores by tasks on this machine, Slurm, Ray and Hub Jobs, each killed on the way
	$(BIN)/python -m pytest -q -m slow tests/whole/test_cluster.py

# Each path is a clone of a public repository: make referee VIESCORE=... IMAGENHUB=... REED_VAE=... EDIT_CONVERGE_BENCH=... I2EBENCH=...
export VIESCORE IMAGENHUB REED_VAE EDIT_CONVERGE_BENCH I2EBENCH
referee: .venv/dev  ## what others published beside what we get, from clones that you name; writes docs/referee.md
	PYTHONPATH=tests $(BIN)/python -m benchmarks.referee

export REAL_CHAINS
verdicts: .venv/dev  ## how often verdicts are right, on pictures whose truth is known; writes docs/verdicts.md
	PYTHONPATH=tests $(BIN)/python -m benchmarks.verdicts --card metric_modules/edit_applied/README.md

goldens: .venv/dev  ## the demo and a simulated suite still come to the same bytes and numbers, on a machine like that of goldens.json
	$(BIN)/python tests/goldens.py build/goldens --check

clean:  ## all that the commands made, but for .venv
	rm -rf runs convergebench report build dist *.egg-info
