# Every target works as the first command after a clone: the environment is made where it is missing.
# `make setup PYTHON=python3.13` chooses the Python that it is made with.

PYTHON ?= python3
BIN := .venv/bin
# What each target needs is installed once: the service's packages alone to run it, those of development to work on it.
SERVICE := .venv/.service
STAMP := .venv/.installed
PYTEST := $(BIN)/python -m pytest
# The slow ones mostly wait, for processes and for each other: more of them fit two cores.
PARALLEL := -n 2 --dist worksteal
PARALLEL_SLOW := -n 4 --dist worksteal
ON_SQLITE := env -u DATABASE_URL
ON_POSTGRESQL := $(BIN)/python -m tests.postgres
# What loads Django without a .env of its own; no database is touched.
WITHOUT_ENV := env DEBUG=true DATABASE_URL=sqlite://:memory:
LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-strip-extras --no-annotate --no-header --extra s3

.PHONY: setup lock format check test test-slow faults sdks docs screenshots run demo bench

setup: $(STAMP)

$(SERVICE): requirements.lock
	@sh tools/setup.sh "$(PYTHON)" $< $@

$(STAMP): requirements-dev.lock | $(SERVICE)
	@sh tools/setup.sh "$(PYTHON)" $< $@

lock: $(STAMP)
	$(BIN)/python -m pip install --quiet uv
	$(LOCK) -o requirements.lock pyproject.toml
	$(LOCK) --group dev -c requirements.lock -o requirements-dev.lock pyproject.toml

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(WITHOUT_ENV) $(BIN)/mypy .
	$(WITHOUT_ENV) $(BIN)/lint-imports --no-logo
	$(WITHOUT_ENV) $(BIN)/python manage.py makemigrations --check --dry-run

test: $(STAMP)
	$(ON_SQLITE) $(PYTEST) $(PARALLEL) -m "not slow and not soak and not browser"
	$(ON_POSTGRESQL) $(PYTEST) $(PARALLEL) -m "database and not once and not slow and not soak"

test-slow: $(STAMP)
	$(ON_SQLITE) $(PYTEST) $(PARALLEL) -m browser tests/pages
	$(ON_SQLITE) $(PYTEST) $(PARALLEL_SLOW) -m "slow and not soak"
	$(ON_POSTGRESQL) $(PYTEST) $(PARALLEL_SLOW) -m "(slow or not database) and not once and not soak"

faults: $(STAMP)
	$(ON_SQLITE) $(PYTEST) -m soak
	$(ON_POSTGRESQL) $(PYTEST) -m soak

sdks: $(STAMP)
	$(ON_SQLITE) $(PYTEST) -rs -s tests/sdks/other_versions.py tests/sdks/coding_agents.py

docs: $(STAMP)
	$(WITHOUT_ENV) $(BIN)/python -m tools.adapter_docs
	$(WITHOUT_ENV) $(BIN)/python -m tools.openapi_docs
	$(WITHOUT_ENV) $(BIN)/python -m tools.declared_docs
	$(WITHOUT_ENV) $(BIN)/python -m tools.interface_docs

screenshots: $(STAMP)
	$(BIN)/python -m tools.screenshots $(ARGS)

run: $(SERVICE)
	@$(BIN)/python -m tools.run $(if $(SEED),--seed $(SEED))

demo: $(SERVICE)
	@$(BIN)/python -m tools.demo

bench: $(STAMP)
	@$(BIN)/python -m bench $(ARGS)
