"""The pages of an audit: complete on their own, escaped, whole or absent, fit for a browser."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from calibkit import reliability_table
from calibkit_audit.auditing import AuditReport, AuditSettings, audit
from calibkit_audit.saving import write_whole
from tests.audit_cases import make
from tests.markup import Page

QUICK = AuditSettings(n_draws=99, n_resamples=50)
HOSTILE = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    "$\\frac{1}{0}$ & | `x` [a](javascript:alert(3))\n# head\x1b[31m",
]


def report_of(**options: Any) -> AuditReport:
    """Audit an over-confident model with three classes."""
    case = make("over-confident", 3, 400, 1)
    return audit(case.y_true, case.y_prob, settings=QUICK, **options)


@pytest.fixture(scope="module")
def hostile() -> AuditReport:
    """Audit with names that try to become markup."""
    groups = np.array(HOSTILE)[np.arange(400) % 3]
    return report_of(class_names=HOSTILE, title=HOSTILE[0], groups=groups)


@pytest.fixture(scope="module")
def page(hostile: AuditReport) -> Page:
    """Parse the page of the hostile report."""
    return Page(hostile.to_html())


@pytest.mark.slow
def test_the_page_is_well_formed(page: Page) -> None:
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("title")) == 1
    assert len(page.all("h1")) == 1
    assert len(page.all("h2")) == 5
    names = [a["id"] for _, a in page.elements if "id" in a]
    assert len(set(names)) == len(names)


@pytest.mark.long
def test_nothing_runs_and_nothing_is_fetched(page: Page, hostile: AuditReport) -> None:
    tags = {name for name, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "form", "a", "base"}
    for name, attributes in page.elements:
        assert not [a for a in attributes if a.startswith("on") or a in ("href", "srcset")], name
    for image in page.all("img"):
        assert image["src"].startswith("data:image/svg+xml;base64,")
    assert "url(" not in hostile.to_html()
    assert "@import" not in hostile.to_html()
    policies = [a for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policies[0]["content"]


@pytest.mark.slow
def test_names_from_outside_stay_text(page: Page) -> None:
    assert all(name in page.words for name in HOSTILE[:2]) and "\x1b" not in page.words


@pytest.mark.slow
def test_figures_have_words_and_captions(page: Page, hostile: AuditReport) -> None:
    images = page.all("img")
    assert len(images) == len(hostile.figures()) == 4
    for image in images:
        assert len(image["alt"]) > 40
    assert len(page.all("figcaption")) == len(images)


def test_single_classes_have_a_panel_each_the_loudest_first() -> None:
    case = make("over-forecast", 10, 600, 2)  # class 0 is forecast too often
    report = audit(case.y_true, case.y_prob, settings=QUICK)
    panels = report.figures()["classes"].axes
    assert [panel.get_title() for panel in panels] == list(report.evidence.classes)
    assert len(panels) == 9 and panels[0].get_title() == "class 0"
    label = (case.y_true == 0).astype(int)
    alone = reliability_table(label, case.y_prob[:, 0])
    assert report.evidence.classes["class 0"].count.tolist() == alone.count.tolist()
    assert "classes" not in audit(label, case.y_prob[:, 0], settings=QUICK).figures()


def test_the_notebook_form_is_escaped_and_without_figures(hostile: AuditReport) -> None:
    panel = Page(hostile._repr_html_())
    assert panel.open == []
    assert not panel.all("img") + panel.all("script") + panel.all("style")
    assert hostile.headline in panel.words


@pytest.mark.long
def test_the_same_audit_gives_the_same_bytes_and_leaves_no_figure_open() -> None:
    before = plt.get_fignums()
    assert report_of().to_html() == report_of().to_html()
    assert plt.get_fignums() == before


@pytest.mark.long
def test_names_that_a_font_lacks_or_that_control_a_page_are_written_as_codes() -> None:
    """Warnings are errors here, and an SVG with a control character is not valid."""
    case = make("over-confident", 2, 600, 0)
    names = ["bell\x07", "中文", "plain"] * 200
    report = audit(case.y_true, case.y_prob, groups=names, settings=QUICK)
    assert report.groups is not None
    assert sorted(report.groups.segment) == sorted(["bell\\x07", "中文", "plain"])
    axes = report.figures()["groups"].axes[0]
    shown = {label.get_text() for label in axes.get_yticklabels()}
    assert shown == {"bell\\x07", "\\u4e2d\\u6587", "plain"}
    page = report.to_html()
    assert "\x07" not in page
    assert "中文" in page


@pytest.mark.parametrize("place", [".", "nowhere/r.html", os.devnull])
def test_a_bad_place_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="names no file in a folder that exists"):
        write_whole(place, "x")


@pytest.mark.long
def test_numbers_do_not_need_matplotlib() -> None:
    code = """
import sys
for name in ("matplotlib", "pandas", "pyarrow"):
    sys.modules[name] = None
import numpy as np
from calibkit_audit.auditing import audit
p = np.linspace(.02, .98, 300)
report = audit(np.random.default_rng(0).random(300) < p, p)
report.text(), report.to_dict(), report._repr_html_()
assert "torch" not in sys.modules
try:
    report.figures()
except ImportError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "pip install matplotlib" in done.stdout


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_and_prints(
    browser: Any, hostile: AuditReport, tmp_path: Path, scheme: str
) -> None:
    path = hostile.save(tmp_path / "report.html")
    context = browser.new_context(color_scheme=scheme, viewport={"width": 400, "height": 800})
    opened, messages, requests = context.new_page(), [], []
    opened.on("console", lambda message: messages.append(message.text))
    opened.on("pageerror", lambda error: messages.append(str(error)))
    opened.on("dialog", lambda dialog: messages.append(dialog.message))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(path.as_uri(), wait_until="load")
    assert messages == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= 400
    for image in opened.locator("img").all():
        assert image.evaluate("image => image.complete && image.naturalWidth > 0")
    printed = opened.pdf(format="A4", print_background=True)
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12
    context.close()
