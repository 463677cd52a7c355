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


@pytest.mark.slow
def test_the_page_is_whole_runs_nothing_and_names_stay_text(hostile: AuditReport) -> None:
    page, text = Page(hostile.to_html()), hostile.to_html()
    assert page.open == []
    assert page.all("html") == [{"lang": "en"}]
    assert [len(page.all(name)) for name in ("title", "h1", "h2")] == [1, 1, 5]
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(set(ids)) == len(ids)
    tags = {name for name, _ in page.elements}
    assert not tags & {"script", "link", "iframe", "object", "embed", "form", "a", "base"}
    for name, attributes in page.elements:
        assert not [a for a in attributes if a.startswith("on") or a in ("href", "srcset")], name
    assert "url(" not in text
    assert "@import" not in text
    policies = [a for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policies[0]["content"]
    assert all(name in page.words for name in HOSTILE[:2])
    assert "\x1b" not in page.words
    images = page.all("img")
    assert len(images) == len(hostile.figures()) == len(page.all("figcaption")) == 3
    for image in images:
        assert image["src"].startswith("data:image/svg+xml;base64,")
        assert len(image["alt"]) > 40


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


@pytest.mark.long
def test_the_same_audit_gives_the_same_bytes_and_leaves_no_figure_open() -> None:
    before = plt.get_fignums()
    assert report_of().to_html() == report_of().to_html()
    assert plt.get_fignums() == before


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
