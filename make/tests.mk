# Tests that `make test` leaves out or samples, because they run for minutes to hours.
##@ Longer tests

# Tests that start programs, which have sessions of their own, and those of the pages.
PROGRAMS := tests/conformance/test_cases.py tests/conformance/test_conformance.py \
	tests/docs tests/resilience/faults

# Tests that take a minute or more each.
LONG := tests/compatibility/kafka tests/compatibility/lakehouse tests/resilience/load \
	tests/resilience/test_kill_flights.py tests/resilience/test_kill_sinks.py

# Tests with millions of groups or rows in small heaps.
MEMORY := tests/resilience/memory

# Classes of Spark, which the JVMs of tests map into memory. A session then starts in half the time.
CLASSES := target/spark-classes.jsa

$(CLASSES): $(VENV) | $(JARS)
	rm -rf target/spark-classes
	SPARK_SUBMIT_OPTS="-XX:ArchiveClassesAtExit=$@ -Xlog:cds*=off" PYSPARK_PYTHON=$(PY) \
		.venv/bin/spark-submit --jars "$$($(PY) -m winops jar)" tests/streaming/over_program.py \
		$(CURDIR)/target/spark-classes >target/spark-classes.log 2>&1 \
		|| { cat target/spark-classes.log; exit 1; }

.PHONY: test-rest test-rest-jvm test-rest-python
test-rest: test-rest-jvm test-rest-python ## the tests that `make test` leaves out because they take long

test-rest-jvm: ## those of ScalaTest
	SBT_OPTS=-Dlonger=only ./sbt test

test-rest-python: $(VENV) $(JARS) ## those of pytest
	./sbt faults
	make/pytest_on_both $(PY) "$(PROGRAMS)" "$(LONG) $(MEMORY)" longer

.PHONY: test-long
test-long: $(VENV) $(JARS) ## Delta, Iceberg and Kafka beside winops, kills of a stream, a small load
	./sbt lakehouse faults kafka
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(LONG)
	WINOPS_TRANSPORT=connect $(PY) -m pytest tests/compatibility/kafka tests/compatibility/lakehouse

.PHONY: test-lakehouse
test-lakehouse: $(VENV) $(JARS) ## Delta and Iceberg beside winops, on classic Spark and on Spark Connect
	./sbt lakehouse
	WINOPS_TRANSPORT=classic $(PY) -m pytest tests/compatibility/lakehouse
	WINOPS_TRANSPORT=connect $(PY) -m pytest tests/compatibility/lakehouse

.PHONY: test-bits
test-bits: ## sums of doubles to the bit: 200 runs with random cuts, restarts and partitions
	SBT_OPTS=-Dbits=200 ./sbt "spark/testOnly winops.spark.aggregates.SameBitsSuite"

.PHONY: test-restarts
test-restarts: ## 300 random restarts for the rules of docs/restarts.md, 100 with window functions, 300 with NULLs in the state
	SBT_OPTS=-Dchanges=300 ./sbt "spark/testOnly winops.spark.restart.ChangedQueriesSuite"
	SBT_OPTS="-Dchanges=100 -Drestarts=300" ./sbt "spark/testOnly winops.spark.restart.ChangedFunctionsSuite \
		winops.spark.restart.CarriedRowsSuite winops.spark.state.RandomRestartsSuite"

.PHONY: test-history
test-history: ## 300 random queries over streams that start with a table and fail in the first micro-batch; 900 windows without Spark
	SBT_OPTS="-Dhistory=300 -Dover=20" ./sbt "spark/testOnly winops.spark.execution.HistoryFailureSuite \
		winops.spark.execution.HistoryPropertySuite winops.spark.over.OverPropertySuite -- -z table -z windows"

.PHONY: test-over
test-over: ## 2,200 random window functions over streams in 110 runs, and the queries of Spark's own tests
	SBT_OPTS=-Dover=110 ./sbt "spark/testOnly winops.spark.over.OverPropertySuite winops.spark.over.SparkQueriesSuite"

.PHONY: test-lookups
test-lookups: $(VENV) $(JARS) ## 2,000 random cases of each lookup and as-of join, beside lists, DuckDB, pandas, and tables beside streams
	WINOPS_TRANSPORT=classic WINOPS_LOOKUPS=2000 $(PY) -m pytest tests/semantics/test_lookups.py \
		tests/semantics/test_lookup_oracles.py tests/streaming/test_lookups.py

.PHONY: test-giant
test-giant: ## a group of ten million rows, as a table and as a stream
	SBT_OPTS=-Dgiant=10000000 ./sbt "spark/testOnly winops.spark.execution.GiantGroupSuite"

.PHONY: test-memory
test-memory: $(VENV) $(JARS) ## millions of groups at once, and groups of gigabytes, in heaps of 512 MB
	WINOPS_TRANSPORT=classic $(PY) -m pytest $(MEMORY)

.PHONY: conformance
conformance: $(VENV) $(JARS) ## all conformance cases as tables and as streams; make test runs a sample
	WINOPS_CONFORMANCE=all WINOPS_TRANSPORT=classic $(PY) -m pytest tests/conformance/test_conformance.py

.PHONY: faults
faults: $(VENV) $(JARS) ## 200 crashes, failed reads and writes, damaged files, changed restarts; FAULTS="--faults 20 --seed 7" for others
	./sbt faults
	./sbt kafka || echo "The JARs of Kafka cannot be downloaded: the campaign uses files only"
	$(PY) -m tests.resilience.faults.campaign $(FAULTS)

.PHONY: load
load: $(VENV) $(JARS) ## two hours of micro-batches as fast as they go, and what remains afterwards
	$(PY) tests/resilience/load/load.py

# 2.5 million texts for each of the four languages, and fewer for Spark's analysis of the
# expressions in policies, which takes longer.
.PHONY: fuzz
fuzz: ## 10 million texts against the parsers of policies
	SBT_OPTS=-Dfuzz=512m ./sbt "core/Test/runMain winops.testing.fuzz.PolicyFuzz 2500000" \
		"spark/Test/runMain winops.spark.expressions.ExpressionFuzz 50000"

# Checkpoints of the default version are made with the environment and the JARs of `make setup`.
ifeq ($(SPARK_MINOR),$(DEFAULT))
GOLDEN_PY := $(PY)
GOLDEN_NEEDS := $(JARS)
else
GOLDEN_PY := $(SPARK_PY)
GOLDEN_NEEDS := target/releases/$(SPARK_PATCH)/.tests target/jars/.stamp-$(SPARK_MINOR)
endif

.PHONY: golden
golden: $(VENV) $(GOLDEN_NEEDS) ## tests/data/checkpoints, with which later versions continue; SPARK=4.2
	$(GOLDEN_PY) -m tests.state.golden.make_checkpoints $(REPLACE)
