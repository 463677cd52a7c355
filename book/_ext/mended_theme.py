"""What the theme and its extensions leave for a screen reader to stumble over, mended.

Each repair is a place in the finished HTML and what stands there instead; the browser test lets axe
look at every page, and excuses nothing. And what a page loads and does not use is left out: of a
megabyte of icons it shows fifteen, formulas stand on some pages, the index is for the search.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

LOGO = re.compile(r'(<a class="navbar-brand logo".*?</a>)', re.DOTALL)
BUTTONS = {  # of the header, and what is written on them
    "primary-toggle": "All pages",
    "theme-switch-button": "Light / dark",
    "search-button search-button__button": "Search",
    "secondary-toggle": "On this page",
}
REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = (
    # A button is called what is written on it.
    (re.compile(r'(search-button-field[^>]*?) title="Search" aria-label="Search"'), r"\1"),
    (re.compile(r'(<i class="theme-switch [^>]*?) title="[^"]*"'), r"\1"),
    (re.compile(r'(<summary) aria-label="Toggle hidden content"'), r"\1"),
    # What a button of the header does is written beside its icon.
    *(
        (
            re.compile(rf'(<button class="[^"]*\b{name}\b[^"]*")[^>]*>(.*?)</button>', re.DOTALL),
            rf'\1>\2<span class="ck-label">{label}</span></button>',
        )
        for name, label in BUTTONS.items()
    ),
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
    # Title and contents once more, for paper alone: the search shows them in place of the text.
    (re.compile(r'<div id="jb-print-docs-body".*?(?=<div id="searchbox">)', re.DOTALL), ""),
    # Without scripts nothing else sets the colours.
    (re.compile(r'(<html [^>]*data-theme=)"auto"'), r'\1"light"'),
    # Firefox would fetch the next page at once, which "Audit a file" forbids.
    (re.compile(r'\s*<link rel="next"[^>]*>'), ""),
    # Roles that are deprecated, or ask for other children.
    (re.compile(r' role="doc-biblioentry"'), ""),
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
)


# Where a line must not break: before the sign of a percentage. Tags and code stay as they are.
VERBATIM = r"<(script|style|pre|code|textarea|select)\b.*?</\2>|<[^>]*>"
PERCENT = re.compile(rf"({VERBATIM})|(?<=\d) (?=%)", re.DOTALL)
SCRIPT = r"\s*<script[^>]*{}[^>]*></script>"
SEARCH = re.compile(SCRIPT.format(r"(?:_static/(?:searchtools|language_data)|searchindex)\.js"))
FORMULAS = re.compile(SCRIPT.format("/mathjax/") + r"|\s*<script>window\.MathJax.*?</script>")
BLOCKING = re.compile(r"<script src=(?=[^>]*_static/)(?![^>]*documentation_options)")
ICONS_SCRIPT = "_static/scripts/fontawesome.js"
ICON = re.compile(r'<(i|span) class="([^"]*\bfa-[^"]*)"([^>]*)></\1>')
STYLE = re.compile(r"fa[sb]?|fa-(solid|brands|lg)")  # words of its class that name no icon


def mended(html: str) -> str:
    """Return a page with all repairs, without what it does not use."""
    for place, instead in REPAIRS:
        html = place.sub(instead, html)
    if "Content-Security-Policy" in html:  # below one a browser fetches what blocks one by one
        html = BLOCKING.sub("<script defer src=", html)
    html = PERCENT.sub(lambda found: found[1] or "\N{NO-BREAK SPACE}", html)
    if 'id="search-results"' not in html:
        html = SEARCH.sub("", html)
    return html if 'class="math ' in html else FORMULAS.sub("", html)


def symbol(name: str, drawings: str) -> str:
    """Return the drawing of an icon out of the theme's file of all."""
    place = rf'[{{,]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"'
    known = re.findall(place, drawings)
    if not known:
        raise ExtensionError(f"{ICONS_SCRIPT} has no icon {name}")
    width, height, path = known[-1]  # of an outline and a solid one the solid one
    return f'<symbol id="fa-{name}" viewBox="0 0 {width} {height}"><path d="{path}"/></symbol>'


def with_drawn_icons(html: str, drawings: str) -> str:
    """Return a page that holds the icons which it shows, each once, and loads none."""
    symbols = dict[str, str]()

    def use(found: re.Match[str]) -> str:
        words = found[2].split()
        (name,) = (word for word in words if word.startswith("fa-") and not STYLE.fullmatch(word))
        symbols.setdefault(name, symbol(name.removeprefix("fa-"), drawings))
        kept = [word for word in words if word == "fa-lg" or not STYLE.fullmatch(word)]
        start = f'<svg class="ck-icon {" ".join(kept)}"{found[3]} aria-hidden="true">'
        return f'{start}<use href="#{name}"/></svg>'

    html = ICON.sub(use, re.sub(SCRIPT.format(ICONS_SCRIPT), "", html))
    sprite = f'<svg style="display: none" aria-hidden="true">{"".join(symbols.values())}</svg>'
    return re.sub(r"<body[^>]*>", lambda body: body[0] + sprite, html, count=1)


def mend_all(app: Sphinx, problem: Exception | None) -> None:
    """Repair each page of the site; what is repaired already has no such place left."""
    if problem is None and app.builder.format == "html":
        drawings = Path(app.outdir, ICONS_SCRIPT).read_text(encoding="utf-8")
        for page in Path(app.outdir).rglob("*.html"):
            html = page.read_text(encoding="utf-8")
            if '<nav aria-label="Home">' not in html:
                page.write_text(with_drawn_icons(mended(html), drawings), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the hook."""
    app.connect("build-finished", mend_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
