SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# One sbt at a time: they share the folders of the build.
.NOTPARALLEL:
.DELETE_ON_ERROR:

PYTHON ?= python3
PY := .venv/bin/python
VENV := .venv/.stamp
JARS := target/jars/.stamp
SPARK_VERSIONS := $(PYTHON) project/spark_versions.py
MINORS := $(shell $(SPARK_VERSIONS) minors)
DEFAULT := $(shell $(SPARK_VERSIONS) default)
# The JARs of the versions beside the default one.
OTHER_JARS := $(patsubst %,target/jars/.stamp-%,$(filter-out $(DEFAULT),$(MINORS)))
# A minor version, of which pytest takes the newest patch release, or a patch release.
SPARK ?= $(DEFAULT)
SPARK_MINOR := $(shell echo $(SPARK) | cut -d. -f1,2)
SPARK_PATCH = $(if $(filter $(SPARK_MINOR),$(SPARK)),$(call newest_of,$(SPARK)),$(SPARK))
ifeq ($(SPARK_MINOR),$(DEFAULT))
GOLDEN_NEEDS := $(JARS)
GOLDEN_PY := $(PY)
else
GOLDEN_NEEDS = target/jars/.test-venv-$(SPARK_PATCH) target/jars/.stamp-$(SPARK_MINOR)
GOLDEN_PY = $(SPARK_PY)
endif
WHEEL := dist/.stamp
SITE_TOOLS := .venv/.site-stamp
MERMAID_VERSION := 11.6.0
# Sphinx leaves out files whose name begins with a dot.
MERMAID := target/site/static/mermaid/.$(MERMAID_VERSION)

# Directories are listed too: they change when a file is deleted.
JVM_BUILD := build.sbt sbt VERSION spark-versions.json $(wildcard project/*.scala) \
	project/build.properties project/plugins.sbt
JVM_MAIN := $(wildcard jvm/*/src/main) $(shell find jvm/*/src/main tests/support/files/src -mindepth 1 2>/dev/null)
PACKAGE := $(shell find python/winops -name '*.py' -o -name py.typed 2>/dev/null)

.PHONY: help setup jar wheel fmt lint lint-python quick test conformance test-giant test-memory test-bits test-restarts test-over \
	test-long test-lakehouse test-releases test-wheel test-pythons test-spark matrix smoke-versions jars load faults demo docs golden clean bench bench-jmh bench-python bench-peers peers \
	fuzz screenshots sbom reproducible public-api publish-local test-packages maven-bundle maven-upload release-check site site-links

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

setup: $(VENV) $(JARS) ## virtual environment, sbt and JARs

jar: $(JARS) ## target/jars: the JAR for the default Spark version, and the conformance runner's

jars: $(JARS) $(OTHER_JARS) ## target/jars: the JARs for all Spark versions

wheel: $(WHEEL) ## dist: the Python package with its JARs

fmt: $(VENV) ## format and fix
	./sbt format
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

lint: lint-python ## formatting, lint and types, without changing anything
	./sbt checkFormat

lint-python: $(VENV)
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

quick: $(VENV) ## compile, core tests, two Spark suites, one Python file; under three minutes warm
	./sbt Test/compile core/test \
		"spark/testOnly winops.spark.RoomsSuite winops.spark.execution.GroupTaskSuite" jars
	touch $(JARS)
	WINOPS_TRANSPORT=classic $(PY) -m pytest tests/api/test_describe.py

# Programs that tests start have sessions of their own, so it does not matter beside what they run.
PROGRAMS := tests/conformance/test_conformance.py tests/docs/test_benchmarks.py tests/resilience/faults

# Programs that take a minute or more each.
LONG := tests/compatibility/kafka tests/compatibility/lakehouse tests/resilience/load tests/resilience/test_kill_flights.py

# Programs with millions of groups or rows in small heaps.
MEMORY := tests/resilience/memory

# Two runs at once, which take about as long: classic Spark; and Spark Connect, then programs. What
# the second one printed is shown when the first is done, so that a summary of pytest's ends the run.
define pytest_on_both
	log=target/pytest-connect.log; \
	set -m; \
	( failed=0; \
	WINOPS_TRANSPORT=connect $(1) -m pytest $(addprefix --ignore=,$(LONG) $(MEMORY)) || failed=1; \
	WINOPS_TRANSPORT=classic $(1) -m pytest $(PROGRAMS) || failed=1; \
	exit $$failed ) >$$log 2>&1 & second=$$!; \
	set +m; \
	trap 'kill -- -$$second' INT TERM; \
	failed=0; \
	WINOPS_TRANSPORT=classic $(1) -m pytest $(addprefix --ignore=,$(PROGRAMS) $(LONG) $(MEMORY)) || failed=1; \
	wait $$second || failed=1; \
	cat $$log; \
	exit $$failed
endef

test: lint-python ## lint, ScalaTest, pytest on classic Spark and on Spark Connect
	./sbt checkFormat test jars faults spark/makePom
	touch $(JARS)
	$(call pytest_on_both,$(PY))

test-long: $(VENV) $(JARS) ## Delta, Iceberg and Kafka beside winops, kills of a stream, a small load
	./sbt lakehouse faults kafka
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(LONG)
	WINOPS_TRANSPORT=connect $(PY) -m pytest tests/compatibility/kafka tests/compatibility/lakehouse

test-lakehouse: $(VENV) $(JARS) ## Delta and Iceberg beside winops, on classic Spark and on Spark Connect
	./sbt lakehouse
	WINOPS_TRANSPORT=classic $(PY) -m pytest tests/compatibility/lakehouse
	WINOPS_TRANSPORT=connect $(PY) -m pytest tests/compatibility/lakehouse

test-bits: ## sums of doubles to the bit: 200 runs with random cuts, restarts and partitions
	SBT_OPTS=-Dbits=200 ./sbt "spark/testOnly winops.spark.aggregates.SameBitsSuite"

test-restarts: ## 300 random restarts with other columns and expressions, with NULLs in the state
	SBT_OPTS=-Drestarts=300 ./sbt "spark/testOnly winops.spark.state.RandomRestartsSuite"

test-over: ## 2,200 random window functions over streams in 110 runs, and the queries of Spark's own tests
	SBT_OPTS=-Dover=110 ./sbt "spark/testOnly winops.spark.over.OverPropertySuite winops.spark.over.SparkQueriesSuite"

# README's lines and a stream with its restart, outside of pytest. REFUSED: what no JAR is for, the
# newest releases on PyPI; build.sbt has the newest on Maven.
# 4.2.1@25 is on Java 25, which PyPI has; the oldest Java is the installed one.
newest_of = $(lastword $(shell $(SPARK_VERSIONS) patches $(1)))
newer_java = $(filter-out 17,$(shell $(SPARK_VERSIONS) java $(1)))
PATCHES := $(sort $(foreach minor,$(MINORS),$(shell $(SPARK_VERSIONS) patches $(minor))))
RELEASES := $(sort $(PATCHES) $(foreach minor,$(MINORS),\
	$(foreach java,$(call newer_java,$(minor)),$(call newest_of,$(minor))@$(java))))
NEWEST := $(foreach minor,$(filter-out $(DEFAULT),$(MINORS)),$(call newest_of,$(minor)))
REFUSED := 3.5.8 4.0.5

smoke-versions: $(VENV) $(JARS) $(OTHER_JARS) ## a stream and its restart on each other Spark version
	tests/compatibility/releases/run $(abspath $(PY)) $(NEWEST)

test-releases: $(VENV) $(JARS) $(OTHER_JARS) ## the same on the oldest and newest patch of each, newer versions of Java, and refusals
	tests/compatibility/releases/run $(abspath $(PY)) $(RELEASES) $(REFUSED)

test-wheel: $(VENV) $(WHEEL) ## the wheel beside each pyspark, outside of the checkout, on classic Spark and on Connect
	tests/compatibility/releases/wheel $(abspath $(PY)) $(PATCHES)

# The versions of Python that the package declares.
PYTHONS ?= $(shell sed -nE 's/.*"Programming Language :: Python :: (3\.[0-9]+)".*/\1/p' pyproject.toml)

# Versions that PYTHONS names have to be found.
test-pythons: $(WHEEL) ## the wheel with each version of Python that is found; PYTHONS="3.10 3.13"
	tests/compatibility/releases/pythons $(if $(filter file,$(origin PYTHONS)),,--all) $(PYTHONS)

# Without Spark's own test classes, which only Maven has, there is no ScalaTest of the operator. pytest
# runs the JAR that is handed on, which is not compiled against a patch release that SPARK names.
test-spark: $(VENV) target/jars/.test-venv-$(SPARK_PATCH) ## ScalaTest and pytest on another Spark version; SPARK=4.2 or 4.1.0
	$(call pyspark_of,$(SPARK_MINOR))
	./sbt -Dspark=$(SPARK_MINOR) $(if $(filter $(SPARK_MINOR),$(SPARK)),,-Dspark.patch=$(SPARK)) scalafmtCheckAll test
	./sbt -Dspark=$(SPARK_MINOR) jars faults spark/makePom
	$(call pytest_on_both,$(SPARK_PY))

matrix: $(VENV) ## test-spark on all Spark versions, one after the other, also if one fails
	failed=; \
	for minor in $(MINORS); do $(MAKE) test-spark SPARK=$$minor || failed+=" $$minor"; done; \
	if [[ -n $$failed ]]; then echo "Failed on Spark:$$failed" >&2; exit 1; fi

load: $(VENV) $(JARS) ## two hours of micro-batches as fast as they go, and what they leave behind
	$(PY) tests/resilience/load/load.py

conformance: $(VENV) $(JARS) ## all conformance cases as tables and as streams, which make test samples
	WINOPS_CONFORMANCE=all WINOPS_TRANSPORT=classic $(PY) -m pytest tests/conformance/test_conformance.py

test-giant: ## a group of ten million rows, as a table and as a stream
	SBT_OPTS=-Dgiant=10000000 ./sbt "spark/testOnly winops.spark.execution.GiantGroupSuite"

test-memory: $(VENV) $(JARS) ## millions of groups at once, and groups of gigabytes, in heaps of 512 MB
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(MEMORY)

demo: $(VENV) $(JARS) ## a year of New York departures, replayed as a stream
	$(PY) examples/flights.py

docs: $(VENV) $(JARS) ## docs/windows.md and its pictures, the table of docs/compatibility.md, the version in pages
	$(PY) -m release.pages
	$(PY) -m release.compatibility
	./sbt "spark/Test/runMain winops.spark.analysis.WindowsPage $(CURDIR)/docs/windows.md"
	$(PY) docs/images/make_windows.py

# Every warning fails: a link without a target, a page that no section names, a wrong docstring.
SPHINX := $(PY) -m sphinx -W --keep-going -q -c docs -d target/site/doctrees

site: $(SITE_TOOLS) $(MERMAID) ## target/site/html: the documentation site, in a folder for its version
	$(SPHINX) -b html . target/site/html/$$(cat VERSION)
	$(PY) docs/versions.py target/site/html

# Debian's chromium, which no other target needs, takes them.
screenshots: site $(JARS) ## docs/images: the tab Windows and explain; artifacts/screenshots: more to look at
	$(PY) -m release.screenshots

site-links: $(SITE_TOOLS) $(MERMAID) ## the links of the site to other hosts
	$(SPHINX) -b linkcheck . target/site/links

golden: $(VENV) $(GOLDEN_NEEDS) ## tests/data/checkpoints: what later versions have to go on with; SPARK=4.2
	$(GOLDEN_PY) -m tests.state.golden.make_checkpoints $(REPLACE)

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

# That of the wheel is of an environment with the wheel and what it requires. Those of JARs have the
# dependencies that sbt gets from Maven: not Spark itself, where it comes from PySpark.
sbom: $(VENV) $(WHEEL) ## dist: bills of materials of the JARs and the wheel, as CycloneDX
	for minor in $(MINORS); do \
		./sbt -Dspark=$$minor spark/makeBom; \
		cp jvm/spark/target/spark-$$minor/winops_$${minor}_2.13-$$(cat VERSION).jar.cdx.json dist/; \
	done
	$(PYTHON) -m venv target/sbom
	target/sbom/bin/python -m pip install --quiet cyclonedx-bom==7.5.0
	sed "s/^dynamic = .*/version = \"$$(cat VERSION)\"/" pyproject.toml >target/sbom/pyproject.toml
	rm -rf target/sbom/wheel
	$(PYTHON) -m venv --without-pip target/sbom/wheel
	target/sbom/bin/python -m pip --python target/sbom/wheel install --quiet dist/*.whl \
		"pyspark==$$($(SPARK_VERSIONS) spark $(DEFAULT))"
	wheel=$$(echo dist/*.whl); \
	target/sbom/bin/cyclonedx-py environment --pyproject target/sbom/pyproject.toml --sv 1.6 \
		--output-reproducible --of JSON -o "$$wheel.cdx.json" target/sbom/wheel/bin/python; \
	$(PY) -m release.bom "$$wheel" "$$wheel.cdx.json"

reproducible: $(VENV) $(OTHER_JARS) ## the last commit, built in two folders, gives the same bytes
	tests/build/same_bytes $(abspath $(PY))

# The list is written on purpose only: docs/public-api.md has the rule.
public-api: $(VENV) ## release/public-api.txt, which the public API is compared with
	$(PY) -m release.public_api

publish-local: $(OTHER_JARS) ## target/repository: POM, JAR, sources and Scaladoc, as Maven expects them
	rm -rf target/repository
	for minor in $(MINORS); do ./sbt -Dspark=$$minor spark/publish; done

test-packages: $(VENV) publish-local ## each published JAR in spark-sql and spark-submit --packages, and in spark-sql --jars
	tests/build/from_repository $(abspath $(PY)) $(foreach minor,$(MINORS),$(call newest_of,$(minor)))

maven-bundle: $(OTHER_JARS) ## dist: the repository, signed with the key that GPG_KEY names, for Maven Central
	rm -rf target/repository
	for minor in $(MINORS); do ./sbt -Dspark=$$minor spark/publishSigned; done
	./sbt sonaBundle
	mkdir -p dist
	cp target/sona-bundle/bundle.zip dist/winops-$$(cat VERSION)-maven.zip

maven-upload: ## uploads this bundle to Maven Central, and waits until the portal has validated it
	rm -rf target/repository
	$(PYTHON) -m zipfile -e dist/winops-$$(cat VERSION)-maven.zip target/repository
	./sbt sonaUpload

release-check: $(VENV) ## rehearses a release without publishing; RELEASE="--tag v1.2.0 --skip bytes"
	$(PY) -m release.check $(RELEASE)

clean: ## everything that was built, but for the virtual environment
	rm -rf target jvm/*/target benchmarks/jmh/target benchmarks/peers/*/target tests/resilience/faults/*/target tests/support/files/target \
		tests/compatibility/lakehouse/target project/target project/project dist \
		python/winops/jars .hypothesis .mypy_cache .pytest_cache .ruff_cache metastore_db \
		spark-warehouse derby.log
	find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

$(VENV): pyproject.toml VERSION spark-versions.json
	$(SPARK_VERSIONS) check-python
	$(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet --editable '.[dev,examples,connect]' \
		"pyspark[connect]==$$($(SPARK_VERSIONS) spark $(DEFAULT))"
	touch $@

$(SITE_TOOLS): $(VENV) docs/requirements.txt
	$(PY) -m pip install --quiet --requirement docs/requirements.txt
	touch $@

# Not the goal unpack: without a POM it notes what it has unpacked in a folder that clean leaves.
$(MERMAID):
	rm -rf target/site/mermaid $(@D)
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
		-Dartifact=org.webjars.npm:mermaid:$(MERMAID_VERSION) -DoutputDirectory="$(CURDIR)/target/site/mermaid"
	$(PYTHON) -m zipfile -e target/site/mermaid/mermaid-$(MERMAID_VERSION).jar target/site/mermaid
	mkdir -p $(@D)/chunks/mermaid.esm.min
	from=target/site/mermaid/META-INF/resources/webjars/mermaid/$(MERMAID_VERSION)/dist; \
	cp $$from/mermaid.esm.min.mjs $(@D); \
	cp $$from/chunks/mermaid.esm.min/*.mjs $(@D)/chunks/mermaid.esm.min
	rm -rf target/site/mermaid
	touch $@

$(JARS): $(JVM_BUILD) $(JVM_MAIN)
	./sbt jars
	touch $(JARS)

# PySpark of the version's newest patch, with the package of this checkout.
SPARK_PY = target/releases/$(SPARK_PATCH)/bin/python

# What Maven does not have is compiled against the JARs of PySpark, in the version `spark`, which can
# be older than the newest patch. build.sbt looks for them here.
pyspark_of = $(if $(shell $(SPARK_VERSIONS) maven $(1)),,tests/compatibility/releases/venv $(abspath $(PY)) $(shell $(SPARK_VERSIONS) spark $(1)))

$(OTHER_JARS): target/jars/.stamp-%: $(JVM_BUILD) $(JVM_MAIN) | $(VENV)
	$(call pyspark_of,$*)
	./sbt -Dspark=$* jars
	touch $@

# What the tests need, beside what the smoke test needs.
target/jars/.test-venv-%: pyproject.toml VERSION spark-versions.json | $(VENV)
	tests/compatibility/releases/venv $(abspath $(PY)) $*
	target/releases/$*/bin/python -m pip install --quiet --editable '.[dev,examples,connect]' \
		"pyspark[connect]==$*"
	mkdir -p $(@D)
	touch $@

$(WHEEL): $(VENV) $(JARS) $(OTHER_JARS) $(PACKAGE) hatch_build.py LICENSE README.md
	rm -rf dist
	$(PY) -m build --wheel --no-isolation
	touch $@
