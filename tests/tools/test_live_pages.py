"""Explorers that go live in the page, and the page that audits a file: the same as on a desktop."""

import contextlib
import doctest
import gzip
import importlib
import inspect
import io
import json
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from book._static import in_page
from calibkit.fakes import LogitDistortion
from calibkit_audit import cli
from calibkit_course import lesson04
from calibkit_course.explore import Explorer
from calibkit_course.explore.page import address_of
from tests.browser_pages import FURTHER, Visit, script
from tests.helpers import each_case
from tests.paths import LIVE, PROGRAMS, PYODIDE, ROOT
from tools.lesson_pages import lesson_pages
from tools.live import pages, site as live

MARKDOWN = ROOT / "book" / "audit_a_file.md"
HOSTILE = "--html=x <img src=x onerror=alert(1)> & 'ü'.csv"


def rows(n: int = 400) -> str:
    """Return the lines of an over-confident forecaster, with names and a group."""
    drawn = LogitDistortion(slope=0.4).sample(n, rng=1)
    pairs = zip(drawn.y_true.tolist(), drawn.y_prob.tolist(), strict=True)
    lines = [f"{y},{p!r},{'ab'[k % 2]}" for k, (y, p) in enumerate(pairs)]
    return "\n".join(["y,p,site", *lines]) + "\n"


def desktop(folder: Path, *words: str) -> tuple[int, str, dict[str, Any]]:
    """Return exit code, sentence and numbers of the command."""
    erred, report = io.StringIO(), folder / "desktop.json"
    with contextlib.redirect_stderr(erred):
        code = cli.main(["audit", f"--json={report}", "--quiet", *words])
    told = erred.getvalue().strip().removeprefix("calibkit: ")
    return code, told, {} if code else json.loads(report.read_text(encoding="utf-8"))


def numbers(report: dict[str, Any]) -> dict[str, Any]:
    """Return what a report says, without the command and the versions that said it."""
    return {key: value for key, value in report.items() if key not in ("versions", "command")}


# --- what the page's Python is asked, asked here -------------------------------------------------


def shown_in_lessons() -> list[tuple[str, str]]:
    """Return lesson and function of every explorer and quiz that a lesson's page shows."""
    found = set()
    for path in lesson_pages(suffix=".ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if "widget" in cell["metadata"].get("tags", []):
                call = re.search(r"^(lesson\d\d)\.(\w+)\(", "".join(cell["source"]), re.MULTILINE)
                found.add(call.groups() if call else (path.name, "no explorer"))
    return sorted(found)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the page's Python work in a folder of the test."""
    monkeypatch.chdir(tmp_path)  # and back again, at the end
    monkeypatch.setattr(in_page, "FOLDER", tmp_path / "audit")
    in_page.clear()
    return tmp_path


ASKED = {"label": "y", "prob": ["p"], "bins": "15", "seed": "0"}
WEIGHTED = {"weight": "w"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["log.csv", "-.csv", HOSTILE])
def test_the_page_and_the_command_give_one_report(folder: Path, name: str) -> None:
    pytest.importorskip("matplotlib")
    Path(name).write_text(rows(), encoding="utf-8")
    wish = {"name": name, **ASKED, "costs": "1:20", "group": "site", "bins": "10"}
    found = in_page.audit(wish)
    options = ["--label=y", "--prob=p", "--costs=1:20", "--group=site", "--bins=10"]
    code, _, report = desktop(folder, *options, "--", name)
    assert code == 0
    shown = json.loads(found["json"])
    commands = [one.pop("command") for one in (shown, report)]
    assert shown == report and all(said.startswith("calibkit audit") for said in commands)
    assert found["headline"] == report["headline"] and report["headline"] in found["html"]
    assert "<img src=x" not in found["html"]
    assert "Net benefit (right treatments" in found["html"].replace("&nbsp;", " ")
    assert found["command"].startswith("calibkit audit --label=y --prob=p")


@each_case(
    ("content", "wish", "words"),
    [
        ("y,p\n1,0.5\n0,1.7\n", {}, "row 2.*1.7.* is not a probability"),
        ("y,p\n1,0.5\n0,0.4\n", {"prob": []}, "“Predictions” is missing"),
        ("y,p\n1,0.5\n0,-3\n", {}, r"If these are logits, say so \(field “They are”\)"),
        ("y,p\nill,0.5\nfit,0.4\n", {}, "means y = 1 in the field “The label that means yes”"),
        ("y;p\n1;0,5\n", {"delimiter": ";"}, "choose comma in the field “Decimal mark”"),
        ("y,p\n1,0.5\n0,0.4\n", {"second": "q", "logits": True}, "without logits"),
        ("y,p\n1,0.5\n0,0.4\n", {"second": "q", "group": "w"}, "without “Groups to compare”"),
        ("y,p\n1,0.5\n0,0.4\n", {"bins": "many"}, "invalid int value"),
        ("y,p,w\n1,0.5,1\n0,0.4,-2\n", WEIGHTED, "^“Weights”, row 2: -2.0 is no weight"),
        ("", {}, "is empty"),
    ],
)
def test_what_cannot_be_used_is_told_in_the_commands_sentence(folder, content, wish, words) -> None:
    Path("log.csv").write_text(content, encoding="utf-8")
    found = in_page.audit({"name": "log.csv", **ASKED, **wish})
    assert list(found) == ["refused", "cures"][: len(found)]
    assert re.search(words, found["refused"])


@each_case(
    ("content", "wish", "cures", "left"),
    [
        ("y,p\n1,83\n0,20\n", {}, ["percent"], {}),
        ("y,p\n1,83 %\n0,20 %\n", {}, ["percent"], {}),
        ("y,p\n1,-2\n0,-3\n", {}, [], None),
        ("y,p\n1,0.83\n0,\n0,0.2\n", {}, ["drop-missing"], {}),
        ("y,a,b\n0,0.8,0.19\n1,0.2,0.8\n", {"prob": ["a", "b"]}, ["rescale"], {}),
        ("y,p\n1,83\n0,\n0,20\n", {}, ["drop-missing"], ["percent"]),
        ("y,p\nYes,0.8\nNo,0.2\n", {}, ["positive"], None),
    ],
)
def test_a_key_mends_what_was_refused(folder, content, wish, cures, left) -> None:
    head, rest = content.split("\n", 1)
    Path("log.csv").write_text(f"{head}\n{rest * 30}", encoding="utf-8")
    asked = {"name": "log.csv", **ASKED, **wish}
    assert in_page.audit(asked)["cures"] == cures
    mended = in_page.audit(asked | dict.fromkeys(cures, True))
    if left is not None:
        assert mended.get("cures", {}) == left and ("html" in mended) == (left == {})


@each_case(
    ("text", "likely"),
    [
        ("y,p\n1,0.5\n0,0.4\n1,0\n0,1\n", ["y", "p"]),
        ("y;p\n1;0,5\n0;0,4\n1;0,1\n0;0,2\n", ["y", "p"]),
        ("id,y,p\n2,1,0.5\n3,0,0.4\n4,0,0.3\n5,1,0.1\n", ["y", "p"]),
        ("y,p,q\n1,0.5,0.1\n0,0.4,0.2\n1,0.1,0.3\n0,0.2,0.4\n", None),
        ("y,z,p\n1,0,0.1\n0,1,0.2\n0,1,0.3\n1,0,0.4\n", None),
        ("y,p\n1,50\n0,40\n1,30\n0,20\n", None),
        ("y,p\n1,0.5\n1,0.4\n1,0.3\n1,0.2\n", None),
        ("y,p\nYes,0.5\nNo,0.4\n,0.3\nNo,\n", ["y", "p"]),
        ("y,who,p\nYes,a,0.5\nNo,b,0.4\n", None),
        ("y,p,who\n1,0.5,a\n0,0.4,b\n", ["y", "p"]),
    ],
)
def test_columns_are_chosen_beforehand_where_only_one_pair_is_possible(
    folder, text, likely
) -> None:
    Path("log.csv").write_text(text, encoding="utf-8")
    assert in_page.columns("log.csv", "", "")["likely"] == likely
    Path("log.csv").write_text(text.replace("1", "yes"), encoding="utf-8")
    words = in_page.columns("log.csv", "", "")["words"].get("y", [])
    assert words in (["yes", "0"], ["yes"], ["Yes", "No"])


def test_columns_of_other_files_are_chosen_beforehand_too(folder: Path) -> None:
    lines = [
        '{"id": "a", "y": true, "say": {"p": 0.9}}',
        '{"id": "b", "y": false, "say": {"p": 0}}',
    ]
    Path("log.jsonl").write_text("\n".join(lines) + '\n{"id": "c", "y": null}', encoding="utf-8")
    found = in_page.columns("log.jsonl", "", "")
    assert found["likely"] == ["y", "say.p"] and found["words"]["y"] == ["True", "False"]
    np.savez("log.npz", y=np.array([0, 1, 1]), p=np.array([0.1, np.nan, 0.5]))
    found = in_page.columns("log.npz", "", "")
    assert found["likely"] == ["y", "p"] and found["words"]["y"] == ["0", "1"]


def test_the_columns_of_a_file_or_why_there_are_none(folder: Path) -> None:
    Path("log.csv").write_text("y;p q\n1;0,5\n", encoding="utf-8")
    assert in_page.columns("log.csv", ";", ",")["columns"] == ["y", "p q"]
    for mark in ("", ","):
        told = in_page.columns("log.csv", ",", mark)["refused"]
        assert "field “Between columns”" in told and "decimal=" not in told
    assert "there is no such file" in in_page.columns("gone.csv", "", "")["refused"]
    assert "the name must end in" in in_page.columns("log.doc", "", "")["refused"]
    np.savez("log.npz", y=np.array([0, 1]), p=np.array([0.1, 0.2]))
    assert in_page.columns("log.npz", "", "")["columns"] == ["y", "p"]


@each_case(
    ("name", "text", "marks"),
    [
        ("log.csv", "y,p\n1,0.5\n", (",", ".", True)),
        ("log.csv", "y;p\n1;0,5\n0;0,25\n", (";", ",", False)),
        ("log.csv", "y;p\n1;.5\n", (";", ".", False)),
        ("log.csv", "y\tp\n1\t0,5\n", ("tab", ",", False)),
        ("log.tsv", "y\tp\n1\t0.5\n", ("tab", ".", True)),
        ("log.csv", 'y,p,note\n1,0.5,"a; b; c"\n', (",", ".", True)),
        ("log.csv", "y|p\n1|0.5\n", ("|", ".", False)),
        ("log.csv.gz", "y;p\n1;0,5\n", (";", ",", False)),
    ],
)
def test_the_marks_of_a_csv_file_are_recognised(folder: Path, name, text, marks) -> None:
    data = text.encode()
    Path(name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    told = in_page.columns(name, "", "")
    assert (told["delimiter"], told["decimal"], told["is_usual"]) == marks


def test_what_is_too_large_once_unpacked_is_refused(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(in_page, "MOST", 3_000_000)
    Path("log.csv.gz").write_bytes(gzip.compress(b"y,p\n" + b"1,0.5\n" * 1_000_000))
    np.savez_compressed("log.npz", y=np.zeros(1_000_000))
    parquet, arrow = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(arrow.table({"y": np.zeros(1_000_000)}), "log.parquet")
    for name in ("log.csv.gz", "log.npz", "log.parquet"):
        assert Path(name).stat().st_size < 1_000_000
        assert "unpacks to more than 3 MB" in in_page.columns(name, "", "")["refused"]
    Path("log.csv.gz").write_bytes(gzip.compress(b"y,p\n1,0.5\n" * 99)[:-9])
    assert "refused" not in in_page.columns("log.csv.gz", "", "")  # damage is told by who reads it


@pytest.mark.long
def test_two_models_clusters_times_and_a_single_class(folder: Path) -> None:
    lines = [f"{k % 2},{0.2 + 0.6 * (k % 2):.2f},0.5,{k // 2},{k}" for k in range(300)]
    Path("log.csv").write_text("y,p,q,who,day\n" + "\n".join(lines), encoding="utf-8")
    found = in_page.audit({"name": "log.csv", **ASKED, "second": "q", "cluster": "who"})
    assert (
        found["command"].startswith("calibkit compare --label=y --prob=p --prob=q --cluster=who")
        and "log loss" in found["html"]
    )
    found = in_page.audit({"name": "log.csv", **ASKED, "cluster": "who", "time": "day"})
    assert "--cluster=who --time=day" in found["command"]
    assert in_page.ONE_LABEL not in found["notes"]
    found = in_page.audit({"name": "log.csv", **ASKED, "weight": "day", "time": "day"})
    told = "the test of “When” has no weights: leave out “When”, or “Weights”."
    assert found == {"refused": told, "cures": []}
    Path("log.csv").write_text("y,p\n" + "1,0.8\n" * 20, encoding="utf-8")
    assert in_page.audit({"name": "log.csv", **ASKED})["notes"][0] == in_page.ONE_LABEL


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("y,p\n1,0.5\n", "y,p\n1,0.5\n"),
        ("1\t0.5\n0\t.25\n", "column 1,column 2\n1,0.5\n0,.25\n"),
        ("y\tp\n1\t0,5\n0\t0,25\n", "y,p\n1,0.5\n0,0.25\n"),
        ("y;p\r\n1;0,5\r\n\r\n", "y,p\n1,0.5\n"),
        ("1 0.5\n0   0.25", "column 1,column 2\n1,0.5\n0,0.25\n"),
        ('what,p\n"sick, very",1e-3\n', 'what,p\n"sick, very",1e-3\n'),
    ],
)
def test_pasted_columns_become_a_file(folder: Path, text: str, written: str) -> None:
    told = in_page.pasted(text)
    assert told["name"] == "pasted.csv" and len(told["columns"]) == 2
    assert Path("pasted.csv").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("text", ["", "  \n", "0.5\n0.4\n"])
def test_less_than_two_columns_are_refused(folder: Path, text: str) -> None:
    assert "at least two columns" in in_page.pasted(text)["refused"]


NAMES = (
    "calibkit.plot.reliability",
    "calibkit.plot.style",
    "calibkit.fakes.KnobClassifier.with_error",
)
NAMES += ("calibkit_audit.auditing.audit", "calibkit_audit.plot.overlay", "calibkit.brier_score")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs_in_the_page_as_its_docstring_says(name: str) -> None:
    text = inspect.getdoc(pkgutil.resolve_name(name)) or ""
    wanted = "".join(one.want for one in doctest.DocTestParser().get_examples(text))
    said = in_page.api_example(name, text)
    assert said["error"] == "" and said["printed"].split() == wanted.split() != []
    assert len(said["shown"]) == text.count("ax = plot.")
    assert "NameError" in in_page.api_example(name, ">>> nobody")["error"]


# --- what the site is told -----------------------------------------------------------------------


def test_the_policy_of_the_page_allows_no_other_host(subtests: pytest.Subtests) -> None:
    policy = re.findall(r'Content-Security-Policy": "([^"]*)"', MARKDOWN.read_text("utf-8"))
    rules = dict(rule.split(" ", 1) for rule in policy[0].split("; "))
    assert rules["default-src"] == "'none'" and rules["connect-src"] == "'self'"
    for words in rules.values():
        with subtests.test(words):
            assert not re.search(r"//|\*|https?:", words)


@pytest.mark.slow
def test_every_field_of_the_form_is_known_to_script_and_command(subtests: pytest.Subtests) -> None:
    text = MARKDOWN.read_text(encoding="utf-8")
    script = (ROOT / "book" / "_static" / "audit_page.js").read_text(encoding="utf-8")
    for name in re.findall(r'id="ck-(\w+)"', text):
        assert re.search(rf'"{name}"', script), name
    known = subprocess.run(
        [sys.executable, "-m", "calibkit_audit", "audit", "--help"], capture_output=True, text=True
    ).stdout
    for option in re.findall(r"<code>(--\w+)</code>", text):
        with subtests.test(option):
            assert option in known


# --- in Node -------------------------------------------------------------------------------------


def beyond(explorer: Any) -> list[int]:
    """Return the places of a state that no page holds."""
    others = [
        next((i for i, v in enumerate(c.values) if v not in c.book), c.index(c.default))
        for c in explorer.controls
    ]
    return [i for i, c in zip(others, explorer.controls, strict=True) if len(c.values) > 1]


@pytest.mark.site
@pytest.mark.slow
def test_explorers_and_an_audit_say_in_the_page_what_they_say_on_the_desktop(folder: Path) -> None:
    questions = []
    for lesson, name in shown_in_lessons():
        one = getattr(importlib.import_module(f"calibkit_course.{lesson}"), name)()
        address, is_explorer = address_of(one), isinstance(one, Explorer)
        words = [address, "{}", beyond(one)] if is_explorer else [address, one.n_book]
        words += ["narrow"]
        questions.append(["state" if is_explorer else "draw", words])
    wish = {"name": "pasted.csv", **ASKED, "costs": "1:20"}
    done = subprocess.run(
        [str(live.program("node")), str(PROGRAMS / "in_page.mjs"), str(PYODIDE)],
        input=json.dumps([*questions, ["pasted", [rows()]], ["audit", [wish]]]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    audited = answers.pop()
    assert answers.pop() == in_page.pasted(rows()) and len(answers) == len(questions)
    _, _, report = desktop(folder, "--label=y", "--prob=p", "--costs=1:20", "--", "pasted.csv")
    found = json.loads(audited["json"])
    assert rounded(numbers(found)) == rounded(numbers(report))
    for (function, words), answer in zip(questions, answers, strict=True):
        expected = getattr(in_page, function)(*words)
        if function == "state":
            told = (answer.get("text"), answer.get("alt"))
            assert told == (expected["text"], expected["alt"]), (words, answer)
        else:
            assert answer["lines"] == expected["lines"], (words, answer)


# --- in a browser --------------------------------------------------------------------------------


def go_live(here: Visit, root: Any) -> None:
    root.locator('[data-role="live"]').focus()
    here.page.keyboard.press("Enter")
    here.page.wait_for_function("root => 'live' in root.dataset", arg=root.element_handle())


def idle(here: Visit, root: Any) -> None:
    """Wait until nothing is drawn."""
    here.page.wait_for_function("r => !r.hasAttribute('aria-busy')", arg=root.element_handle())


@pytest.mark.site
@pytest.mark.browser
def test_an_explorer_goes_live_and_draws_what_no_page_holds(live_page: Any) -> None:
    here = live_page(FURTHER, viewport={"width": 1100, "height": 900})
    root = here.page.locator(".ck-explorer").first
    root.locator("input[type=range]").first.focus()
    here.page.keyboard.press("ArrowRight")  # a prepared state, which going live keeps
    before = root.locator(".ck-readout").inner_text()
    go_live(here, root)
    assert root.locator(".ck-readout").inner_text() == before
    assert root.evaluate("root => root.contains(document.activeElement)")  # focus is not lost
    size = root.locator("input[type=range]").first
    kept = size.get_attribute("aria-valuetext")
    size.focus()
    for _ in range(3):  # faster than it draws
        here.page.keyboard.press("ArrowRight")
    idle(here, root)
    lab = lesson04.diagram_lab()
    control = lab.controls[0]
    texts = [control.text(value) for value in control.values]
    value = control.values[texts.index(kept) + 3]
    assert value not in control.book
    picture, text = lab.show(**{control.name: value})
    assert root.locator(".ck-readout").inner_text() == text
    assert root.locator(".ck-figure").get_attribute("alt") == picture.alt
    root.locator('[data-role="reset"]').click()
    idle(here, root)
    assert root.locator(".ck-readout").inner_text() == lab.show()[1]
    here.open(FURTHER)
    quiz = here.page.locator(".ck-quiz").first
    go_live(here, quiz)
    held = lesson04.which_is_perfect().n_book
    here.page.wait_for_function(
        "([root, more]) => Number(root.dataset.draws) >= more",
        arg=[quiz.element_handle(), held + 1],
    )
    seen = set()
    for _ in range(held + 1):
        seen.add(quiz.locator("img").get_attribute("src"))
        quiz.locator('[data-role="again"]').click()
    assert len(seen) == held + 1


@pytest.mark.site
@pytest.mark.browser
def test_an_example_of_the_api_runs_in_its_page(live_page: Any) -> None:
    here = live_page("book/api/calibkit.plot.html")
    name = "calibkit.plot.reliability"
    example = here.page.locator(f'dt[id="{name}"] + dd')
    example.get_by_role("button", name=f"Run the example of {name}", exact=True).click()
    example.locator(".ck-answer img").wait_for()
    assert "observed frequency" in example.locator(".ck-answer pre").inner_text()


@pytest.mark.site
@pytest.mark.browser
def test_without_python_the_prepared_states_still_work(live_page: Any) -> None:
    here = live_page(FURTHER, f"file://{Path(LIVE).resolve()}")
    root = here.page.locator(".ck-explorer").first
    root.locator('[data-role="live"]').click()
    assert "opened from disk" in root.locator(".ck-live [role=status]").inner_text()
    here = live_page(FURTHER)
    here.page.evaluate("delete window.Worker")
    root = here.page.locator(".ck-explorer").first
    root.locator('[data-role="live"]').click()
    assert "too old" in root.locator(".ck-live [role=status]").inner_text()
    here = live_page(FURTHER)
    here.page.context.route("**/pyodide.asm.wasm", lambda route: route.abort())
    root = here.page.locator(".ck-explorer").first
    root.locator('[data-role="live"]').click()
    root.get_by_role("button", name="Try again").wait_for()
    assert "did not arrive" in root.locator(".ck-live [role=status]").inner_text()
    before = root.locator(".ck-readout").inner_text()
    root.locator("input[type=range]").first.focus()
    here.page.keyboard.press("ArrowRight")
    assert root.locator(".ck-readout").inner_text() != before


class Audit(Visit):
    """The page that audits a file."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        super().__init__(browser, address, **options)
        self.page.goto(f"{address}/{pages.AUDIT_PAGE}")

    def read(self, given: Any) -> None:
        """Choose a file, and wait for its columns or the sentence that says why there are none."""
        self.page.set_input_files("#ck-file", given)
        self.page.wait_for_function(
            """() => !document.querySelector('[data-step="2"]').hidden
               || !document.querySelector('[data-role="unread"]').hidden"""
        )

    def choose(self, label: str, *prob: str) -> None:
        self.page.select_option("#ck-label", label)
        for name in prob:
            self.page.locator(f'[data-role="prob"] input[value="{name}"]').check()

    def run(self) -> None:
        self.page.get_by_role("button", name="Audit", exact=True).click()
        self.page.wait_for_function(
            """() => !document.querySelector('[data-role="result"]').hidden
               || !document.querySelector('[data-role="refused"]').hidden"""
        )

    def refused(self, role: str = "refused") -> str:
        return str(self.page.locator(f'[data-role="{role}"]').inner_text())

    def report(self) -> dict[str, Any]:
        with self.page.expect_download() as download:
            self.page.locator('a[data-role="json"]').click()
        found = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        return dict(found)


def csv_file(text: str, name: str = "log.csv") -> dict[str, Any]:
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


@pytest.fixture(scope="module")
def audits(browser: Any, address: str) -> Iterator[Audit]:
    """Open the page, load Python by a first file, and then take the network away."""
    page = Audit(browser, address, viewport={"width": 1100, "height": 900})
    page.read(csv_file("y,p\n1,0.5\n0,0.4\n"))
    page.page.context.set_offline(True)
    page.requests.clear()
    yield page
    page.close()


@pytest.mark.site
@pytest.mark.browser
def test_a_file_gets_the_desktops_report_and_asks_no_network(audits: Audit, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(rows(), encoding="utf-8")
    audits.read(str(path))
    audits.choose("y", "p")
    audits.page.get_by_text("Groups, rows that belong together").click()
    audits.page.select_option("#ck-group", "site")
    audits.page.fill("#ck-fp", "1")
    audits.page.fill("#ck-fn", "20")
    audits.run()
    words = ["--label=y", "--prob=p", "--positive=1", "--group=site", "--costs=1:20"]
    code, _, report = desktop(tmp_path, *words, str(path))
    assert code == 0
    found = audits.report()
    assert found["headline"] == report["headline"] and found["verdicts"] == report["verdicts"]
    assert rounded(numbers(found)) == rounded(numbers(report))
    frame = audits.page.frame_locator("iframe.ck-report")
    assert report["headline"] in frame.locator(".verdict").inner_text()
    assert frame.locator("figure img").first.evaluate("image => image.naturalWidth") > 0
    assert audits.requests == [] and audits.errors == []
    audits.page.fill("#ck-fp", "")
    audits.page.fill("#ck-fn", "")


@pytest.mark.site
@pytest.mark.browser
def test_keys_mend_a_file_and_nothing_of_it_is_done_to_the_next(audits: Audit) -> None:
    """And the report stands above its downloads, and these above the command."""
    blank_or = ["", "73 %", "8 %", "50 %"]
    lines = [f"{'Yes' if k % 3 else 'No'},{blank_or[k % 4]}" for k in range(300)]
    audits.read(csv_file("\n".join(["churned,p", *lines])))
    audits.choose("churned", "p")
    audits.run()
    for key in (
        "These are percentages",
        "Leave those rows out, and say how many",
        "“Yes” means yes",
    ):
        audits.page.get_by_role("button", name=key).click()
        audits.page.wait_for_function("() => !document.querySelector('form :disabled')")
    command = audits.page.locator('[data-role="command"]')
    assert "--positive=Yes --percent --drop-missing" in command.inner_text()
    assert (
        "churned = Yes"
        in audits.page.frame_locator("iframe.ck-report").locator("body").inner_text()
    )
    parts = ("iframe.ck-report", '[data-role="html"]', '[data-role="command"]')
    tops = [audits.page.locator(part).bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)
    audits.read(csv_file(rows(), "log.csv"))
    audits.choose("y", "p")
    audits.run()
    wanted = "calibkit audit --label=y --prob=p --positive=1 --html=report.html log.csv"
    assert command.inner_text() == wanted


def rounded(value: Any) -> Any:
    """Return numbers to six digits: two processors may differ in the last."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


@pytest.mark.site
@pytest.mark.browser
def test_broken_and_hostile_files_get_a_sentence(audits: Audit, tmp_path: Path) -> None:
    audits.read(csv_file("y,p\n1,0.5\n0,1.7\n", HOSTILE))
    audits.choose("y", "p")
    audits.run()
    Path(tmp_path, HOSTILE).write_text("y,p\n1,0.5\n0,1.7\n", encoding="utf-8")
    with contextlib.chdir(tmp_path):
        _, told, _ = desktop(tmp_path, "--label=y", "--prob=p", "--", HOSTILE)
    assert audits.refused().replace("\xa0", " ") == in_page.in_fields(told)
    audits.read(csv_file("PAR1 in name only", "log.parquet"))  # and no network to fetch its reader
    assert "begins and ends with the letters PAR1" in audits.refused("unread")
    bomb = gzip.compress(b"y,p\n" + b"1,0.5\n" * 20_000_000)
    audits.read({"name": "log.csv.gz", "mimeType": "application/gzip", "buffer": bomb})
    assert "unpacks to more than 100 MB" in audits.refused("unread")
    audits.page.evaluate(script("give_200_megabytes"))
    assert "big.csv has 200 MB" in audits.refused("unread")
    audits.read(csv_file(rows(), "log.csv"))  # and the page still works
    audits.choose("y", "p")
    audits.run()
    assert "over-confident" in audits.report()["headline"]
    assert audits.page.locator("img[src=x]").count() == 0 and audits.errors == []


@pytest.mark.site
@pytest.mark.browser
def test_the_policy_holds_in_the_page_and_in_its_worker(browser: Any, address: str) -> None:
    page = Audit(browser, address)
    other = address.replace("127.0.0.1", "localhost")  # another origin, which would answer
    blocked = []
    page.page.on("requestfailed", lambda request: blocked.append((request.url, request.failure)))
    failed, told, heard = page.page.evaluate(script("asks_elsewhere"), other)
    assert failed and told == ["policy connect-src", "refused"] and heard >= 2
    assert set(page.elsewhere) <= {f"{other}/image"}
    assert all(pair == (f"{other}/image", "csp") for pair in blocked)
    assert len(blocked) == len(page.elsewhere)
    page.close()


@pytest.mark.site
@pytest.mark.browser
def test_parquet_loads_its_reader_from_the_site_and_an_audit_can_be_stopped(
    browser: Any, address: str, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    drawn = LogitDistortion(slope=0.4).sample(300, rng=1)
    path = tmp_path / "log.parquet"
    parquet.write_table(pyarrow.table({"y": drawn.y_true, "p": drawn.y_prob}), path)
    page = Audit(browser, address)
    page.read(str(path))
    page.choose("y", "p")
    page.run()
    _, _, report = desktop(tmp_path, "--label=y", "--prob=p", "--positive=1", str(path))
    assert rounded(page.report()["answers"]) == rounded(report["answers"])
    assert page.elsewhere == [] and any("pyarrow" in url for url in page.requests)
    page.page.get_by_role("button", name="Audit", exact=True).click()
    page.page.get_by_role("button", name="Stop").click()
    assert page.page.locator('[data-role="auditing"]').inner_text() == "Stopped."
    page.run()  # Python starts anew, and the file is read again
    assert rounded(page.report()["answers"]) == rounded(report["answers"])
    page.close()
