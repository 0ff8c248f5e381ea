SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
PY := .venv/bin/python
VENV := .venv/.stamp
JARS := target/jars/.stamp
WHEEL := dist/.stamp
SITE_TOOLS := .venv/.site-stamp
MERMAID_VERSION := 11.6.0
MERMAID := target/site/static/mermaid

# Directories are listed too: they change when a file is deleted.
JVM_BUILD := build.sbt sbt VERSION project/build.properties project/plugins.sbt
JVM_MAIN := $(wildcard jvm/*/src/main) $(shell find jvm/*/src/main -mindepth 1 2>/dev/null)
PACKAGE := $(shell find python/winops -name '*.py' -o -name py.typed 2>/dev/null)

# The package looks for its JAR beside itself, in a checkout as in an installed wheel.
define stamp_jars
	mkdir -p python/winops/jars
	rm -f python/winops/jars/*.jar
	cp target/jars/winops_*.jar python/winops/jars/
	touch $(JARS)
endef

.PHONY: help setup jar wheel fmt lint lint-python quick test conformance test-giant test-bits test-over \
	test-long test-releases load faults demo docs golden clean bench bench-jmh bench-python bench-peers peers \
	fuzz sbom reproducible site site-links

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

setup: $(VENV) $(JARS) ## virtual environment, sbt and JARs

jar: $(JARS) ## target/jars: the JAR for Spark, and the conformance runner's

wheel: $(WHEEL) ## dist: the Python package with its JAR

fmt: $(VENV) ## format and fix
	./sbt scalafmtAll jmh/scalafmtAll faultsFiles/scalafmtAll scalafmtSbt
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

lint: lint-python ## formatting, lint and types, without changing anything
	./sbt scalafmtCheckAll jmh/scalafmtCheckAll scalafmtSbtCheck

lint-python: $(VENV)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

quick: $(VENV) ## compile, core tests, two Spark suites, one Python file; under three minutes warm
	./sbt Test/compile core/test \
		"spark/testOnly winops.spark.RoomsSuite winops.spark.execution.KeepTaskSuite" jars
	$(stamp_jars)
	WINOPS_TRANSPORT=classic $(PY) -m pytest tests/api/test_describe.py

# Programs that tests start have sessions of their own, so it does not matter beside what they run.
PROGRAMS := tests/conformance/test_conformance.py tests/docs/test_benchmarks.py tests/resilience/faults

# Programs that take a minute or more each.
LONG := tests/compatibility/kafka tests/compatibility/lakehouse tests/resilience/load tests/resilience/test_kill_flights.py

# Two runs at once, which take about as long: classic Spark; and Spark Connect, then programs. What
# the second one printed is shown when the first is done, so that a summary of pytest's ends the run.
define pytest_on_both
	log=target/pytest-connect.log; \
	set -m; \
	( failed=0; \
	WINOPS_TRANSPORT=connect $(PY) -m pytest $(addprefix --ignore=,$(LONG)) || failed=1; \
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(PROGRAMS) || failed=1; \
	exit $$failed ) >$$log 2>&1 & second=$$!; \
	set +m; \
	trap 'kill -- -$$second' INT TERM; \
	failed=0; \
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(addprefix --ignore=,$(PROGRAMS) $(LONG)) || failed=1; \
	wait $$second || failed=1; \
	cat $$log; \
	exit $$failed
endef

test: lint-python ## lint, ScalaTest, pytest on classic Spark and on Spark Connect
	./sbt scalafmtCheckAll jmh/scalafmtCheckAll scalafmtSbtCheck test jars faults
	$(stamp_jars)
	$(pytest_on_both)

test-long: $(VENV) $(JARS) ## Delta, Iceberg and Kafka beside winops, kills of a stream, a small load
	./sbt lakehouse faults kafka
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(LONG)
	WINOPS_TRANSPORT=connect $(PY) -m pytest tests/compatibility/kafka tests/compatibility/lakehouse

test-bits: ## sums of doubles to the bit: 200 runs with random cuts, restarts and partitions
	SBT_OPTS=-Dbits=200 ./sbt "spark/testOnly winops.spark.aggregates.SameBitsSuite"

test-over: ## 2,200 random window functions over streams in 110 runs, and the queries of Spark's own tests
	SBT_OPTS=-Dover=110 ./sbt "spark/testOnly winops.spark.over.OverPropertySuite winops.spark.over.SparkQueriesSuite"

# Of the minor version that the JAR is for, the oldest and the newest patch; and what says so on the
# minor versions beside it.
RELEASES := 4.1.0 4.1.4 4.0.5 4.2.1

test-releases: $(VENV) $(JARS) ## the JAR on the oldest and newest Spark 4.1, and its refusal on 4.0 and 4.2
	tests/compatibility/releases/run $(abspath $(PY)) $(RELEASES)

load: $(VENV) $(JARS) ## two hours of micro-batches as fast as they go, and what they leave behind
	$(PY) tests/resilience/load/load.py

conformance: $(VENV) $(JARS) ## all conformance cases as tables and as streams, which make test samples
	WINOPS_CONFORMANCE=all WINOPS_TRANSPORT=classic $(PY) -m pytest tests/conformance/test_conformance.py

test-giant: ## a group of ten million rows, as a table and as a stream
	SBT_OPTS=-Dgiant=10000000 ./sbt "spark/testOnly winops.spark.execution.GiantGroupSuite"

demo: $(VENV) $(JARS) ## a year of New York departures, replayed as a stream
	$(PY) examples/flights.py

docs: ## docs/windows.md, from what the code says of its windows
	./sbt "spark/Test/runMain winops.spark.analysis.WindowsPage $(CURDIR)/docs/windows.md"

# Every warning fails: a link without a target, a page that no section names, a wrong docstring.
SPHINX := $(PY) -m sphinx -W --keep-going -q -c docs -d target/site/doctrees

site: $(SITE_TOOLS) $(MERMAID) ## target/site/html: the documentation site, in a folder for its version
	$(SPHINX) -b html . target/site/html/$$(cat VERSION)
	$(PY) docs/versions.py target/site/html

site-links: $(SITE_TOOLS) $(MERMAID) ## the links of the site to other hosts
	$(SPHINX) -b linkcheck . target/site/links

golden: $(VENV) $(JARS) ## tests/data/checkpoints: what later versions have to go on with
	$(PY) -m tests.state.golden.make_checkpoints $(REPLACE)

bench: $(VENV) $(JARS) ## ratios to reading, shuffling and sorting the same rows
	$(PY) benchmarks/run.py w1 w2 w3 w3b w4 w5 w6 w7 w7-empty w7-counted w7-empty-counted w8 rows-size w5-size

bench-jmh: ## core and state layout, in ns per operation; JMH="PagedMap -p size=100" for some
	mkdir -p artifacts/benchmarks
	./sbt "jmh/Jmh/run -foe true -rf json -rff $(CURDIR)/artifacts/benchmarks/jmh.json $(JMH)"

bench-python: $(VENV) $(JARS) ## end to end through PySpark, small, with pytest-benchmark
	mkdir -p artifacts/benchmarks
	$(PY) -m pytest benchmarks/end_to_end --benchmark-json=artifacts/benchmarks/end-to-end.json

peers: ## what winops is compared with, on Spark, Flink and Esper
	./sbt peers

faults: $(VENV) $(JARS) ## 200 crashes, failed reads and writes, damaged files; FAULTS="--faults 20 --seed 7" for others
	./sbt faults
	./sbt kafka || echo "Kafka cannot be had: the campaign goes on with files"
	$(PY) -m tests.resilience.faults.campaign $(FAULTS)

# The slow ones have fewer rows, and a million keys are given to those who can take them.
bench-peers: $(VENV) $(JARS) peers ## the same jobs on what people use instead
	$(PY) benchmarks/run.py w1 w3 w4 w5 --peers fast --name peers --warm-up 6 --batches 5
	$(PY) benchmarks/run.py w2 --name peers-w2 --warm-up 6 --batches 3 \
		--peers "transformWithState,; flatMapGroupsWithState; function, heap; function, RocksDB"
	$(PY) benchmarks/run.py w2 --name peers-w2-esper --warm-up 6 --batches 3 \
		--peers "Esper, groupwin" --heap 8g
	$(PY) benchmarks/run.py w1 w5 --peers slow --name peers-slow --rows 100000 --keys 1000 \
		--warm-up 3 --batches 5

# Policies come from anywhere: 2.5 million texts for each of the four languages, and fewer for what
# Spark makes of the expressions in them.
fuzz: ## 10 million texts against the readers of policies
	SBT_OPTS=-Dfuzz=512m ./sbt "core/Test/runMain winops.testing.fuzz.PolicyFuzz 2500000" \
		"spark/Test/runMain winops.spark.expressions.ExpressionFuzz 50000"

sbom: $(WHEEL) ## dist: bills of materials of the JAR and the wheel, as CycloneDX
	./sbt spark/makeBom
	cp jvm/spark/target/winops_*.jar.cdx.json dist/
	$(PYTHON) -m venv target/sbom
	target/sbom/bin/python -m pip install --quiet cyclonedx-bom==7.5.0
	sed "s/^dynamic = .*/version = \"$$(cat VERSION)\"/" pyproject.toml >target/sbom/pyproject.toml
	target/sbom/bin/cyclonedx-py environment --pyproject target/sbom/pyproject.toml --sv 1.6 \
		--output-reproducible --of JSON -o "$$(echo dist/*.whl).cdx.json" $(PY)

reproducible: $(VENV) ## the last commit, built in two folders, gives the same bytes
	tests/build/same_bytes $(abspath $(PY))

clean: ## everything that was built, but for the virtual environment
	rm -rf target jvm/*/target benchmarks/jmh/target benchmarks/peers/*/target tests/resilience/faults/*/target \
		tests/compatibility/lakehouse/target project/target project/project dist \
		python/winops/jars .hypothesis .mypy_cache .pytest_cache .ruff_cache metastore_db \
		spark-warehouse derby.log
	find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

$(VENV): pyproject.toml VERSION
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --editable '.[dev,examples,connect]'
	touch $@

$(SITE_TOOLS): $(VENV) docs/requirements.txt
	$(PY) -m pip install --quiet --requirement docs/requirements.txt
	touch $@

$(MERMAID):
	rm -rf target/site/mermaid $(MERMAID)
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
		-Dartifact=org.webjars.npm:mermaid:$(MERMAID_VERSION) -DoutputDirectory="$(CURDIR)/target/site/mermaid" \
		-Dmdep.unpack.includes='**/dist/mermaid.esm.min.mjs,**/dist/chunks/mermaid.esm.min/*.mjs'
	mkdir -p $(dir $(MERMAID))
	mv target/site/mermaid/META-INF/resources/webjars/mermaid/$(MERMAID_VERSION)/dist $(MERMAID)

$(JARS): $(JVM_BUILD) $(JVM_MAIN)
	./sbt jars
	$(stamp_jars)

$(WHEEL): $(VENV) $(JARS) $(PACKAGE) hatch_build.py LICENSE README.md
	rm -rf dist
	$(PY) -m build --wheel --no-isolation
	touch $@
