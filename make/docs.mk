# The documentation site and the screenshots in its pages.
##@ Documentation site

SITE_TOOLS := .venv/.site-stamp
MERMAID_VERSION := 11.6.0
# Touched after this version was unpacked. Sphinx leaves out files whose name begins with a dot.
MERMAID := target/site/static/mermaid/.$(MERMAID_VERSION)
# Every warning fails: a link without a target, a page in no section, a wrong docstring.
SPHINX := $(PY) -m sphinx -W --keep-going -q -c docs -d target/site/doctrees

.PHONY: site
site: $(SITE_TOOLS) $(MERMAID) ## target/site/html: the documentation site, in a folder for its version
	$(SPHINX) -b html . target/site/html/$(VERSION)
	$(PY) docs/versions.py target/site/html

.PHONY: site-links
site-links: $(SITE_TOOLS) $(MERMAID) ## the links of the site to other hosts
	$(SPHINX) -b linkcheck . target/site/links

# Needs chromium, such as that of Debian.
.PHONY: screenshots
screenshots: site $(JARS) ## docs/images: the tab Windows and explain; artifacts/screenshots: more to look at
	$(PY) -m release.screenshots

$(SITE_TOOLS): $(VENV) docs/requirements.txt
	$(PY) -m pip install --quiet --requirement docs/requirements.txt
	touch $@

$(MERMAID):
	docs/unpack_mermaid $(MERMAID_VERSION) $(@D)
	touch $@
