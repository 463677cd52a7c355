"""The book by the newest Sphinx: `python dev.py next`, after `python dev.py book`.

Jupyter Book 1 is in maintenance and holds Sphinx below 8. Its configuration becomes a `conf.py`,
which Sphinx, myst-nb and the theme build in `build/next`, the newest of each, whatever is pinned;
lessons that the book has executed are not executed again. Warnings are errors, and the tests of the
book read the result, which has to have every page.
"""

import os
import sys
import sysconfig

from tools.virtual_environment import ROOT, book_environment, call, environment, fresh, quietly

NEXT, BOOK, CONF = ROOT / "build" / "next", ROOT / "book", ROOT / "conf.py"
PARTS = ["book-theme", "comments", "copybutton", "design", "external-toc", "jupyterbook-latex"]
PARTS += ["multitoc-numbering", "thebe", "togglebutton"]
CONFIGURE = "from jupyter_book.cli.main import main; main()"


def configure() -> None:
    """Write the `conf.py` of the book, without Jupyter Book itself, where its paths begin."""
    options = ["--config", BOOK / "_config.yml", "--toc", BOOK / "_toc.yml", ROOT]
    quietly(sys.executable, "-c", CONFIGURE, "config", "sphinx", *options, env=environment())
    written = (BOOK / "conf.py").replace(CONF)
    written.write_text(written.read_text("utf-8").replace("'jupyter_book', ", ""), encoding="utf-8")


def build() -> int:
    """Build the book by Sphinx alone; what the lessons need stands behind the newest packages."""
    packages = ["sphinx", "myst-nb", "sphinxcontrib-bibtex", *(f"sphinx-{part}" for part in PARTS)]
    python = fresh(NEXT / "environment", *packages)
    behind = next((NEXT / "environment").rglob("site-packages")) / "zz_behind.pth"
    behind.write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    env = book_environment() | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(BOOK / "_ext")])}
    cache = f"nb_execution_cache_path={BOOK / '_build' / '.jupyter_cache'}"
    options = ["-W", "--keep-going", "-q", "-E", "-D", cache]
    return call(python, "-m", "sphinx", *options, ROOT, NEXT / "html", env=env)


if __name__ == "__main__":
    try:
        configure()
        failed = build()
    finally:
        CONF.unlink(missing_ok=True)
    site = environment() | {"CALIBKIT_SITE": str(NEXT / "html")}
    tests = (sys.executable, "-m", "pytest", "-q", "tests/book/test_book.py")
    sys.exit(failed or call(*tests, env=site))
