"""What the theme and its extensions leave for a screen reader to stumble over, mended.

Each repair is a place in the finished HTML and what stands there instead; the browser test lets axe
look at every page, and excuses nothing.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

LOGO = re.compile(r'(<a class="navbar-brand logo".*?</a>)', re.DOTALL)
REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = (
    # A button is called what is written on it.
    (re.compile(r'(search-button-field[^>]*?) title="Search" aria-label="Search"'), r"\1"),
    (re.compile(r'(<i class="theme-switch [^>]*?) title="[^"]*"'), r"\1"),
    (re.compile(r'(<summary) aria-label="Toggle hidden content"'), r"\1"),
    # The way home is a landmark, and a chevron says what it opens.
    (LOGO, r'<nav aria-label="Home">\1</nav>'),
    (re.compile(r"<summary>(?=<span class=\"toctree-toggle)"), '<summary aria-label="Its pages">'),
    # The way past all that leads to the text, not to the buttons above it.
    (
        re.compile(r'<a href="#main-content">(?=.*<article class="bd-article">)', re.S),
        '<a href="#text">',
    ),
    (
        re.compile(r'<article class="bd-article">'),
        '<article class="bd-article" id="text" tabindex="-1">',
    ),
    # Without scripts nothing else sets the colours.
    (re.compile(r'(<html [^>]*data-theme=)"auto"'), r'\1"light"'),
    # Firefox would fetch the next page at once, which "Audit a file" forbids.
    (re.compile(r'\s*<link rel="next"[^>]*>'), ""),
    # Roles that are deprecated, or ask for other children.
    (re.compile(r' role="doc-biblioentry"'), ""),
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
)


def mended(html: str) -> str:
    """Return a page with all repairs."""
    for place, instead in REPAIRS:
        html = place.sub(instead, html)
    return html


def mend_all(app: Sphinx, problem: Exception | None) -> None:
    """Repair each page of the site; what is repaired already has no such place left."""
    if problem is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            html = page.read_text(encoding="utf-8")
            if '<nav aria-label="Home">' not in html:
                page.write_text(mended(html), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("build-finished", mend_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
