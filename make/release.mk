# The wheel, the Maven artifacts, and what a release checks: docs/contributing/releasing.md.
##@ Wheel, Maven artifacts and release

.PHONY: wheel
wheel: $(WHEEL) ## dist: the Python package with its JARs

PACKAGE := $(shell find python/winops -name '*.py' -o -name py.typed)

$(WHEEL): $(VENV) $(JARS) $(OTHER_JARS) $(PACKAGE) hatch_build.py LICENSE README.md
	rm -rf dist
	$(PY) -m build --wheel --no-isolation
	touch $@

.PHONY: publish-local
publish-local: $(OTHER_JARS) ## target/repository: POM, JAR, sources and Scaladoc, as Maven expects them
	rm -rf target/repository
	for minor in $(MINORS); do ./sbt -Dspark=$$minor spark/publish; done

.PHONY: test-packages
test-packages: $(VENV) publish-local ## each published JAR in spark-sql and spark-submit --packages, and in spark-sql --jars
	tests/build/from_repository $(abspath $(PY)) $(NEWEST)

MAVEN_BUNDLE := dist/winops-$(VERSION)-maven.zip

.PHONY: maven-bundle
maven-bundle: $(OTHER_JARS) ## dist: the repository, signed with the key that GPG_KEY names, for Maven Central
	rm -rf target/repository
	for minor in $(MINORS); do ./sbt -Dspark=$$minor spark/publishSigned; done
	./sbt sonaBundle
	mkdir -p dist
	cp target/sona-bundle/bundle.zip $(MAVEN_BUNDLE)

.PHONY: maven-upload
maven-upload: ## uploads this bundle to Maven Central, and waits until the portal has validated it
	rm -rf target/repository
	$(PYTHON) -m zipfile -e $(MAVEN_BUNDLE) target/repository
	./sbt sonaUpload

.PHONY: sbom
sbom: $(VENV) $(WHEEL) ## dist: bills of materials of the JARs and the wheel, as CycloneDX
	release/make_boms $(PY) $(COMPILED_WITH_$(DEFAULT))

.PHONY: reproducible
reproducible: $(VENV) $(OTHER_JARS) ## the last commit, built in two folders, gives the same bytes
	tests/build/same_bytes $(abspath $(PY))

# docs/public-api.md says when the list may change.
.PHONY: public-api
public-api: $(VENV) ## release/public-api.txt, which the public API is compared with
	$(PY) -m release.public_api

.PHONY: release-check
release-check: $(VENV) ## rehearses a release without publishing; RELEASE="--tag v1.2.0 --skip bytes"
	$(PY) -m release.check $(RELEASE)
