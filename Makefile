# The commands of the Hopper book. `make help` lists them.
# Needs a POSIX shell, make (GNU 3.81 or newer) and Python 3.11 or newer.
#
#   PYTHON=/path/to/python3   the Python that makes the environment (otherwise the first that will do)
#   VENV=folder               where the environment is, for example "$CONDA_PREFIX"
#   MACHINE=site.toml TITLE='...'  html: the machine and the title of a site of your own; rules.toml and
#                             examples.toml beside the file are used too
#   REPOSITORY=https://github.com/you/name HUB=https://hub.example.org
#                             html: buttons that open a page's notebook on Binder, and on a JupyterHub
#   ARGS='...'                passed on: book (to the server), test and search (to pytest), lab,
#                             bench and lock (to uv, for example --upgrade)

VENV = .venv
ARGS =
RUN = "$(VENV)/bin/python"
WORKERS = 2

# Every notebook starts a Python: what is compiled once is kept, or a build takes a fifth longer.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help book html test search lab lint bench answers stored scorecard forecasts ranker pictures lock clean distclean python browser

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

book: html ## build the book and serve it on this machine
	@$(RUN) -m hopperbook.serve $(ARGS)

html: python browser ## build the book into _build/html
	@$(if $(MACHINE),$(if $(wildcard $(dir $(MACHINE))rules.toml),$(RUN) scripts/try_rules.py "$(dir $(MACHINE))rules.toml"))
	@$(RUN) -m hopperbook.build $(if $(MACHINE),--machine "$(MACHINE)") $(if $(TITLE),--title "$(TITLE)") \
		$(if $(REPOSITORY),--repository "$(REPOSITORY)") $(if $(HUB),--hub "$(HUB)")

test: python browser ## run the tests: models, examples, the built book in a browser; says how many it leaves to search
	@$(RUN) -m pytest -n $(WORKERS) $(ARGS)

search: python browser ## the long tests: property tests with new examples each time, claims over many seeds, all pages
	@$(RUN) -m pytest -n $(WORKERS) -m "hypothesis or nightly" --hypothesis-profile=search tests $(ARGS)

lab: python ## open the notebooks in JupyterLab, at the routes through them
	@$(RUN) scripts/notebook_versions.py start _build/lab/start.ipynb
	@$(RUN) -m jupyterlab --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/_build/lab/start.ipynb $(ARGS)

lint: python ## check style, types, spelling and notebooks
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .
	@$(RUN) -m mypy
	@$(RUN) -m codespell_lib
	@$(RUN) scripts/notebook_outputs.py notebooks book

bench: python ## measure speed side by side with other tools
	@$(RUN) -m benchmarks $(ARGS)

answers: python ## rewrite every answer at its defaults and examples, for review
	@$(RUN) tests/questions/test_golden.py

stored: python ## recompute the stored first answers of the heavy explorers (minutes)
	@$(RUN) -m hopperbook.site.stored_answers

scorecard: python ## rewrite data/scorecard.csv and the summary line of the README
	@$(RUN) scripts/scorecard.py

forecasts: python ## rewrite data/forecasts.csv from the models and their settings
	@$(RUN) -m hopperbook.forecasts

ranker: python ## fit the diagnosis' ranker of lines again on its table of labeled lines
	@cd scripts && $(abspath $(VENV))/bin/python fit_ranker.py --curve

pictures: html ## retake the picture of the README
	@$(RUN) scripts/pictures.py

lock: python ## rewrite the lock files from pyproject.toml and package.json
	@sh scripts/lock.sh "$(VENV)" $(ARGS)

clean: ## remove what the commands built
	@rm -rf _build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find benchmarks book hopperkit hopperlib scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environment too
	@rm -rf .venv node_modules

python:
	@sh scripts/environment.sh python "$(VENV)"

browser: python
	@sh scripts/environment.sh browser "$(VENV)"
