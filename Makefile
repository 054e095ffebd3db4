PYTHON ?= python3
PORT ?= 8000
PGPORT ?= 6875
DEMO ?=
VENV := .venv/bin
.DEFAULT_GOAL := help
.PHONY: check-views faults screenshots help run test fast lint format soak bench install jars clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

run: ## Run Headrace (PORT=8000 PGPORT=6875; DEMO=1 makes a demo with live tables)
	@$(PYTHON) tools/bootstrap.py
	@HEADRACE_PORT=$(PORT) HEADRACE_PGPORT=$(PGPORT) HEADRACE_DEMO=$(DEMO) exec $(VENV)/python manage.py up

test: install ## Run the tests (services that are missing here skip theirs, by name)
	@$(VENV)/python -m pytest -m "not faults" $(ARGS)

fast: install ## Run the tests that need no service
	@$(VENV)/python -m pytest -m "not spark and not postgres and not browser and not faults" -n auto --dist worksteal $(ARGS)

lint: install ## Check style, types and the rooms' borders
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-logo

format: install ## Put the code into its form
	$(VENV)/ruff check --fix .
	$(VENV)/ruff format .

soak: install ## Five minutes of pgbench upstream: whole transactions, and equal at the end
	@HEADRACE_SOAK=300 $(VENV)/python -m pytest tests/walks/test_pgbench.py $(ARGS)

bench: install ## Measure against the peers; writes bench/results/latest.json
	@$(VENV)/python -m bench $(ARGS)

check-views: install ## Half an hour of random views, replacements and kills: each view is its query
	@HEADRACE_CHECK=$${HEADRACE_CHECK:-1800} $(VENV)/python -m pytest tests/checker -s $(ARGS)

faults: install ## The long tests: kills at every point, twenty at random, pgbench, sharing
	@HEADRACE_ROUNDS=$${HEADRACE_ROUNDS:-20} $(VENV)/python -m pytest -m faults $(ARGS)

screenshots: install ## Walk the console in a browser and picture every step into docs/images
	$(VENV)/python -m pytest tests/browser --screenshots docs/images $(ARGS)

install: ## Make the virtual environment and fetch the jars, for development
	@$(PYTHON) tools/bootstrap.py --dev

jars: ## Fetch the jars that Spark lacks
	@$(PYTHON) tools/bootstrap.py

clean: ## Remove caches (never the home with its data)
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
