# The targets of daily work. The files in make/ have the others, each file for one purpose.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# One sbt at a time, because all of them write into the same folders.
.NOTPARALLEL:
.DELETE_ON_ERROR:

PYTHON ?= python3
PY := .venv/bin/python
VERSION := $(shell cat VERSION)
# Files that are touched after the virtual environment, the JARs for the default Spark version and
# the wheel were made.
VENV := .venv/.stamp
JARS := target/jars/.stamp
WHEEL := dist/.stamp

# Files that the JARs are built from. Folders are listed too, because a folder changes when a file
# in it is deleted.
JVM_BUILD := build.sbt sbt VERSION spark-versions.json project/build.properties \
	project/plugins.sbt $(wildcard project/*.scala)
JVM_MAIN := $(wildcard jvm/*/src/main) \
	$(shell find jvm/*/src/main tests/support/files/src -mindepth 1 2>/dev/null)

# The versions of Spark, from spark-versions.json. MINORS are all minor versions, and DEFAULT is
# the one that is built if none is named. For each minor version, such as 4.2, NEWEST_4.2 is its
# newest patch release, PATCHES_4.2 the oldest and the newest one, COMPILED_WITH_4.2 the one that
# sbt compiles with, ON_MAVEN_4.2 is empty if Maven does not have that one, and JAVA_4.2 are the
# versions of Java that it runs on.
include target/spark-versions.mk

include make/versions.mk
include make/tests.mk
include make/benchmarks.mk
include make/docs.mk
include make/release.mk

##@ Daily work

.PHONY: help
help: ## this list
	@awk -f make/help.awk Makefile make/*.mk

.PHONY: setup
setup: $(VENV) $(JARS) ## virtual environment, sbt and JARs

.PHONY: jar
jar: $(JARS) ## the JAR for the default Spark version

.PHONY: fmt
fmt: $(VENV) ## format and fix
	./sbt format
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

.PHONY: lint
lint: lint-python ## formatting, lint and types, without changing anything
	./sbt checkFormat

.PHONY: lint-python
lint-python: $(VENV) ## the same for Python only
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

.PHONY: quick
quick: $(VENV) ## compile, core tests, two Spark suites, one Python file; under three minutes warm
	./sbt Test/compile core/test \
		"spark/testOnly winops.spark.RoomsSuite winops.spark.execution.GroupTaskSuite" jars
	touch $(JARS)
	WINOPS_TRANSPORT=classic $(PY) -m pytest tests/api/test_describe.py

.PHONY: test
test: lint-python ## lint, ScalaTest, pytest on classic Spark and on Spark Connect
	./sbt checkFormat test jars faults spark/makePom
	touch $(JARS)
	$(MAKE) $(CLASSES)
	make/pytest_on_both $(PY) "$(PROGRAMS)" "$(LONG) $(MEMORY)" "not longer"

.PHONY: demo
demo: $(VENV) $(JARS) ## a year of New York departures, replayed as a stream
	$(PY) examples/flights.py

.PHONY: docs
docs: $(VENV) $(JARS) ## docs/windows.md and its pictures, the table of docs/compatibility.md, the version in pages
	$(PY) -m release.pages
	$(PY) -m release.compatibility
	./sbt "spark/Test/runMain winops.spark.analysis.WindowsPage $(CURDIR)/docs/windows.md"
	$(PY) docs/images/make_windows.py

.PHONY: clean
clean: ## all build output, but not the virtual environment
	find . -name .venv -prune -o -type d \( -name target -o -name __pycache__ \) -prune \
		-exec rm -rf {} +
	rm -rf project/project dist python/winops/jars .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf metastore_db spark-warehouse derby.log

target/spark-versions.mk: spark-versions.json release/versions.py
	@mkdir -p $(@D)
	@$(PYTHON) -m release.versions make >$@

$(VENV): pyproject.toml VERSION spark-versions.json
	$(PYTHON) -m release.versions check-python
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --editable '.[dev,examples,connect]' \
		"pyspark[connect]==$(COMPILED_WITH_$(DEFAULT))"
	touch $@

$(JARS): $(JVM_BUILD) $(JVM_MAIN)
	./sbt jars
	touch $@
