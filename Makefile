# make serve    play; make test    check everything; make help    the rest
.DEFAULT_GOAL := help
.PHONY: help serve test test-python test-js chaos power check-image lint fmt examples migration clean venv venv-dev

PYTHON ?= python3
BIN := .venv/bin
export PYTHON

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

serve: venv ## Play: set up what is missing, then start coinche
	@exec $(BIN)/coinche serve

test: lint test-js test-python ## Check everything: style, types, imports, the page's scripts, all tests

lint: venv-dev ## Style, types and who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-js: venv-dev ## Types and tests of the page's scripts
	@scripts/test-js

test-python: venv-dev ## The Python tests, those in a real browser included
	@command -v docker-compose >/dev/null || scripts/bring docker-compose
	@PATH="$$PATH:/usr/sbin"; command -v nginx >/dev/null && command -v openssl >/dev/null || scripts/bring nginx openssl
	@CHROMIUM="$$($(BIN)/python tests/browser/chromium.py)" && export CHROMIUM && $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

chaos: venv-dev ## Kill everything under a load and compare the books: make chaos SECONDS=600
	@$(BIN)/python -u -m tests.chaos.driver --seconds $(or $(SECONDS),60) $(CHAOS_ARGS)

power: venv-dev ## Cut the power under a load, for each appendfsync of Valkey: make power CUTS=10
	@$(BIN)/python -u -m tests.chaos.power --cuts $(or $(CUTS),3) $(POWER_ARGS)

check-image: venv-dev ## Build the Dockerfile without a container engine, and run it: as root, some minutes
	@$(BIN)/python -u -m tests.deploy.image $(IMAGE_ARGS)

fmt: venv-dev ## Format, and repair what can be repaired
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

examples: venv-dev ## Record the examples of the API's description anew
	@$(BIN)/python -m scripts.examples

migration: venv-dev ## A new revision from the models: make migration m="what changes"
	@$(BIN)/python scripts/migration.py "$(m)"

clean: ## Remove what make made; games in .data stay
	rm -rf .venv node_modules build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv:
	@scripts/venv embedded

venv-dev:
	@scripts/venv dev
