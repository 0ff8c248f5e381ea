# Other versions of Spark, Java and Python: their JARs and environments, and the tests on them.
##@ Versions of Spark, Java and Python

# A minor version, whose newest patch release pytest runs with, or a patch release.
SPARK ?= $(DEFAULT)
SPARK_MINOR := $(shell echo $(SPARK) | cut -d. -f1,2)
SPARK_PATCH := $(or $(NEWEST_$(SPARK)),$(SPARK))
SPARK_PY := target/releases/$(SPARK_PATCH)/bin/python
ifneq ($(SPARK),$(SPARK_MINOR))
PATCH_OPTION := -Dspark.patch=$(SPARK)
endif

OTHER_MINORS := $(filter-out $(DEFAULT),$(MINORS))
OTHER_JARS := $(patsubst %,target/jars/.stamp-%,$(OTHER_MINORS))
PATCHES := $(foreach minor,$(MINORS),$(PATCHES_$(minor)))
NEWEST := $(foreach minor,$(MINORS),$(NEWEST_$(minor)))
# The newest releases of other minor versions than the default one.
OTHER_NEWEST := $(foreach minor,$(OTHER_MINORS),$(NEWEST_$(minor)))
# The newest releases on later versions of Java, such as 4.2.1@25. Java 17 is installed, and PyPI
# has the later versions.
ON_LATER_JAVA := $(foreach minor,$(MINORS),\
	$(foreach java,$(filter-out 17,$(JAVA_$(minor))),$(NEWEST_$(minor))@$(java)))
# The newest releases on PyPI of versions that no JAR is for. build.sbt has the newest ones on
# Maven.
REFUSED := 3.5.8 4.0.5

.PHONY: jars
jars: $(JARS) $(OTHER_JARS) ## target/jars: the JARs for all Spark versions

# Makes the environment target/releases/$(1) with PySpark in that release.
make_environment = tests/compatibility/releases/venv $(abspath $(PY)) $(1)

# sbt compiles a minor version that Maven does not have against the JARs of PySpark, and looks for
# these in target/releases. The release can be older than the newest patch.
install_spark = $(if $(ON_MAVEN_$(1)),,$(call make_environment,$(COMPILED_WITH_$(1))))

$(OTHER_JARS): target/jars/.stamp-%: $(JVM_BUILD) $(JVM_MAIN) | $(VENV)
	$(call install_spark,$*)
	./sbt -Dspark=$* jars
	touch $@

# An environment with PySpark in that release, this checkout, and the libraries of the tests.
target/releases/%/.tests: pyproject.toml VERSION spark-versions.json | $(VENV)
	$(call make_environment,$*)
	target/releases/$*/bin/python -m pip install --quiet --editable '.[dev,examples,connect]' \
		"pyspark[connect]==$*"
	touch $@

.PHONY: smoke-versions
smoke-versions: $(VENV) $(JARS) $(OTHER_JARS) ## README's lines, a stream and its restart on each other Spark version
	tests/compatibility/releases/run $(abspath $(PY)) $(OTHER_NEWEST)

.PHONY: test-releases
test-releases: $(VENV) $(JARS) $(OTHER_JARS) ## the same on the oldest and newest patch of each, later versions of Java, and refusals
	tests/compatibility/releases/run $(abspath $(PY)) $(sort $(PATCHES) $(ON_LATER_JAVA)) $(REFUSED)

# Maven has the test classes of Spark, and ScalaTest of the operator does not run without these.
# pytest runs the JAR of the minor version, which is not compiled with a patch release that SPARK
# names.
.PHONY: test-spark
test-spark: $(VENV) target/releases/$(SPARK_PATCH)/.tests ## ScalaTest and pytest on another Spark version, with the longer tests; SPARK=4.2 or 4.1.0
	$(call install_spark,$(SPARK_MINOR))
	./sbt -Dspark=$(SPARK_MINOR) $(PATCH_OPTION) -Dlonger=too scalafmtCheckAll test
	./sbt -Dspark=$(SPARK_MINOR) jars faults spark/makePom
	make/pytest_on_both $(SPARK_PY) "$(PROGRAMS)" "$(LONG) $(MEMORY)" ""

.PHONY: matrix
matrix: $(VENV) ## test-spark on all Spark versions, one after the other, also if one fails
	$(MAKE) --keep-going $(addprefix matrix-,$(MINORS))

.PHONY: $(addprefix matrix-,$(MINORS))
$(addprefix matrix-,$(MINORS)): matrix-%:
	$(MAKE) test-spark SPARK=$*

.PHONY: test-wheel
test-wheel: $(VENV) $(WHEEL) ## the wheel beside each pyspark, outside of the checkout, on classic Spark and on Connect
	tests/compatibility/releases/wheel $(abspath $(PY)) $(sort $(PATCHES))

.PHONY: test-pythons
test-pythons: $(WHEEL) ## the wheel with each version of Python that is found; PYTHONS="3.10 3.13" must be found
	tests/compatibility/releases/pythons $(PYTHONS)
