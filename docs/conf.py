"""Sphinx settings of the documentation site: `make site`.

The root of the checkout is the source folder, so that links from a page to SECURITY.md or to a
program are the same on the site as in the checkout.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[1]

project = "winops"
author = "the contributors of winops"
copyright = author  # noqa: A001
version = release = (ROOT / "VERSION").read_text().strip()

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_external_toc",
    "sphinxcontrib.mermaid",
]
external_toc_path = "docs/_toc.yml"
external_toc_exclude_missing = True
include_patterns = [
    "*.md",
    "deploy/*.md",
    "docs/**",
    "benchmarks/**.md",
    "tests/data/conformance/*.md",
]
# README.md is the page of the repository; docs/index.md is the page of the site.
exclude_patterns = ["README.md", ".*", "artifacts", "dist", "jvm", "project", "python", "target"]

# A page is Markdown as GitHub reads it. Blocks of Mermaid are pictures there too.
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

# Tests run the notebooks and compare what they print with what is stored in them.
nb_execution_mode = "off"

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

# The browser of a reader loads nothing from another host: Mermaid comes from a JAR of Maven
# Central, which `make site` unpacks.
mermaid_use_local = "mermaid/mermaid.esm.min.mjs"
mermaid_fullscreen = False
html_static_path = ["_static", "../target/site/static"]
html_css_files = ["site.css"]

html_theme = "pydata_sphinx_theme"
html_title = f"winops {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "winops", "link": "docs/index"},
    "show_nav_level": 2,
    "navigation_with_keys": False,
    "navbar_end": ["version-switcher", "theme-switcher"],
    "switcher": {
        "json_url": os.environ.get("WINOPS_VERSIONS", "../../versions.json"),
        "version_match": release,
    },
    "check_switcher": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"docs/index": [], "docs/start": ["sidebar-nav-bs"]}

# Anchors of pages of other projects are made by scripts there.
linkcheck_anchors = False


_LINK = re.compile(r"\[([^]]+)\]\((?!http)([^)#]*)(#[^)]*)?\)")


def links_of_the_site(app: Sphinx, page: str, source: list[str]) -> None:
    """Show a link to a page under the title of the page.

    In the checkout a link shows the name of the file. A link to a folder becomes plain text,
    because the site has no page for a folder.
    """
    here = app.env.doc2path(page).parent

    def replaced(link: re.Match[str]) -> str:
        text, path, anchor = link[1], link[2], link[3] or ""
        if path and (here / path).is_dir():
            return text
        return f"[]({path}{anchor})" if path.endswith(".md") and text in path else link[0]

    source[0] = _LINK.sub(replaced, source[0])


def setup(app: Sphinx) -> None:
    """Register the events of the build."""
    app.connect("source-read", links_of_the_site)
