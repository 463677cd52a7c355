"""The command `calibkit compare`: its words, exit codes, pages, and what it refuses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit.auditing import COMPARISON_CODES
from calibkit.cli import main
from tests.helpers import class_data
from tests.paths import ROOT

USUAL = ("--label", "y", "--prob", "bold,fair")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with a file of two models."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    true = rng.beta(0.8, 1.2, 1500)
    y = (rng.random(1500) < true).astype(int)
    columns = zip(y, expit(2 * logit(true)), true, np.arange(1500) % 2, strict=True)
    lines = [f"{a},{b!r},{c!r},g{d}" for a, b, c, d in columns]
    text = "\n".join(["y,bold,fair,site", *lines]).replace("np.float64", "")
    (tmp_path / "log.csv").write_text(text.replace("(", "").replace(")", ""), encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> int:
    return main(["compare", *arguments])


def test_a_comparison_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("log.csv", *USUAL, "--costs", "1:9", "--group", "site") == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "log.csv: 1,500 predictions" in out
    assert "fair is better than bold: by" in out
    assert "in cost per prediction" in out
    assert "2 groups" in out
    twice = ("--label", "y", "--prob", "bold", "--prob", "fair")
    assert run("log.csv", *twice, "--costs", "1:9", "--group", "site") == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(
    ("prob", "condition", "code"),
    [
        ("bold,fair", "worse log loss", 0),
        ("bold,fair", "worse cost, better log loss", 1),
        ("fair,bold", "worse log loss", 1),
        ("fair,bold", "not separated", 0),
    ],
)
def test_conditions(
    folder: Path, capsys: pytest.CaptureFixture[str], prob: str, condition: str, code: int
) -> None:
    found = run("log.csv", "--label", "y", "--prob", prob, "--fail-if", condition, "--quiet")
    assert found == code
    out, err = capsys.readouterr()
    assert out == "" and ("condition met" in err) == bool(code)


@pytest.mark.slow
def test_pages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pages = ("--html", "r.html", "--markdown", "r.md", "--json", "-")
    assert run("log.csv", *USUAL, *pages) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["models"] == ["bold", "fair"]
    assert "better log loss" in said["codes"]
    assert (folder / "r.html").read_text(encoding="utf-8").count("<img") == 2
    assert (folder / "r.md").read_text(encoding="utf-8").startswith("# log.csv")


@pytest.mark.parametrize("options", [("--large",), ("--memory-limit", "0")])
def test_a_stream_says_the_same_scores(
    folder: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    for more in ((), options):
        assert run("log.csv", *USUAL, *more, "--json", "r.json", "--quiet") == 0
        rows = json.loads(Path("r.json").read_text())["differences"]
        scores = {row["measure"]: row["value"] for row in rows}
        if not more:
            first = scores
    assert scores == pytest.approx(first, abs=1e-9)


def test_classes_in_another_order_are_matched_by_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    y, p = class_data(400)
    names = np.array(["cat", "dog", "owl"])
    order = [2, 0, 1]
    head = ["what", *(f"a_{n}" for n in names), *(f"b_{n}" for n in names[order])]
    lines = [
        ",".join([names[k], *map(str, row), *map(str, row[order])])
        for k, row in zip(y, p, strict=True)
    ]
    Path("animals.csv").write_text("\n".join([",".join(head), *lines]), encoding="utf-8")
    for more in ((), ("--large",)):
        assert run("animals.csv", "--label", "what", "--prob", "a_*,b_*", *more) == 0
        assert "a and b" in (out := capsys.readouterr().out) or "b and a" in out
        assert out.count("equal") >= 3
        assert "better" not in out and "worse" not in out


REFUSED = {
    "one model": (["log.csv", "--label", "y", "--prob", "fair"], "two or more different models"),
    "twice": (["log.csv", "--label", "y", "--prob", "fair,fair"], "two or more different models"),
    "no prob": (["log.csv", "--label", "y"], "--prob is missing"),
    "unknown column": (["log.csv", "--label", "y", "--prob", "fair,foul"], "column 'foul'"),
    "costs": (["log.csv", *USUAL, "--costs", "1-9"], "not of the form FP:FN"),
    "code": (["log.csv", *USUAL, "--fail-if", "miscalibrated"], "'miscalibrated' is no code"),
    "no event": (["none.csv", *USUAL], "y = 1 never occurs"),
    "no event, large": (["none.csv", *USUAL, "--large"], "y = 1 never occurs"),
    "classes": (["log.csv", *USUAL, "--classes", "a,b"], "one different name per column"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_use_is_refused_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    arguments, words = REFUSED[what]
    Path("none.csv").write_text("y,bold,fair\n0,.1,.2\n0,.3,.2\n", encoding="utf-8")
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    assert re.search(words, err), err


@pytest.mark.parametrize("more", [[], ["--large"]])
def test_an_audit_without_events_has_one_exit_code(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    Path("none.csv").write_text("y,p\n0,.1\n0,.3\n", encoding="utf-8")
    assert main(["audit", "none.csv", "--label", "y", "--prob", "p", *more]) == 2
    assert "y = 1 never occurs" in capsys.readouterr().err


def test_help_names_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    assert all(code in text for code in COMPARISON_CODES)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a locale and names of bytes")
def test_signs_and_names_without_unicode(folder: Path) -> None:
    """A name that is not UTF-8 is read, and a sign that cannot be shown is not the unknown one."""
    name = b"log\xff.csv"
    (folder / "log.csv").rename(os.fsdecode(folder) + "/" + os.fsdecode(name))
    environment = os.environ | {
        "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    command = [os.fsencode(sys.executable), b"-m", b"calibkit", b"audit", name, b"--label", b"y"]
    done = subprocess.run(
        [*command, b"--prob", b"bold", b"--json", b"r.json"],
        capture_output=True, check=False, env=environment, cwd=folder, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"x Miscalibrated beyond chance" in done.stdout
    assert b"? costs unknown" in done.stdout
    assert json.loads((folder / "r.json").read_text())["title"] == "log\ufffd.csv"
