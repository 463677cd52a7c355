"""The command `calibkit`: what it prints, writes and returns, and what it refuses."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibkit import cli, doctor
from calibkit.auditing import AuditSettings, audit
from calibkit.auditing.settings import CODES
from calibkit.cli import main
from calibkit.fakes import LogitDistortion
from tests.helpers import class_data
from tests.paths import ROOT

USUAL = ("--label", "y", "--prob", "p")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, slope: float = 1.0, n: int = 400, *, words: bool = False) -> str:
    data = LogitDistortion(slope=slope).sample(n, rng=1)
    names = ("no", "yes") if words else ("0", "1")
    lines = [
        f"{names[int(y)]},{p!r}"
        for y, p in zip(data.y_true.tolist(), data.y_prob.tolist(), strict=True)
    ]
    Path(path).write_text("\n".join(["y,p", *lines]) + "\n", encoding="utf-8")
    return path


def run(*arguments: str) -> int:
    return main(["audit", *arguments])


# --- what it says --------------------------------------------------------------------------------


def test_an_audit_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(write("log.csv", 0.4), *USUAL) == 0
    out, err = capsys.readouterr()
    assert "Miscalibrated beyond chance: over-confident" in out
    assert out.count("?") >= 6
    assert "log.csv: 400 predictions" in out
    assert err == ""


def test_a_file_with_semicolons_and_decimal_commas(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(write("log.csv", 0.4)).read_text(encoding="utf-8")
    Path("other.csv").write_text(text.replace(",", ";").replace(".", ","), encoding="utf-8")
    said = []
    for options in (["log.csv"], ["other.csv", "--delimiter", ";", "--decimal", ","]):
        assert run(*options, *USUAL, "--title", "log") == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert run("other.csv", *USUAL) == 2
    assert "--delimiter ';'" in capsys.readouterr().err


def test_the_same_seed_gives_the_same_words(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write("log.csv", 0.4)
    said = []
    for _ in range(2):
        run("log.csv", *USUAL, "--seed", "7")
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("slope", "condition", "code"),
    [
        (0.4, "miscalibrated", 1),
        (0.4, "no evidence, costly, over-confident", 1),
        (0.4, "under-confident", 0),
        (1.0, "miscalibrated", 0),
        (1.0, "no evidence", 1),
    ],
)
def test_conditions_for_a_pipeline(
    folder: Path, capsys: pytest.CaptureFixture[str], slope: float, condition: str, code: int
) -> None:
    assert run(write("log.csv", slope), *USUAL, "--fail-if", condition, "--quiet") == code
    out, err = capsys.readouterr()
    assert out == ""
    assert ("condition met" in err) == bool(code)


def test_impossible_statements_are_a_condition(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path(write("log.csv")).read_text(encoding="utf-8").splitlines()
    row = next(row for row, line in enumerate(lines) if line.startswith("1,"))
    assert run("log.csv", *USUAL, "--fail-if", "impossible statements", "--quiet") == 0
    Path("log.csv").write_text("\n".join([*lines[:row], "1,0", *lines[row + 1 :], ""]), "utf-8")
    assert run("log.csv", *USUAL, "--fail-if", "impossible statements") == 1
    assert run("log.csv", *USUAL, "--fail-if", "miscalibrated", "--quiet") == 0
    out = capsys.readouterr().out
    assert f"1 row says 0 and the event happened (row {row - 1}, counted" in " ".join(out.split())


def test_json_on_standard_output_and_in_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(write("log.csv", 0.4), *USUAL, "--json", "-")
    said = json.loads(capsys.readouterr().out)
    assert said["verdicts"]["calibration"] == "miscalibrated"
    run("log.csv", *USUAL, "--json", "report.json", "--quiet")
    assert json.loads(Path("report.json").read_text(encoding="utf-8")) == said


@pytest.mark.slow
def test_pages_are_written(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    write("log.csv", 0.4)
    assert run("log.csv", *USUAL, "--html", "r.html", "--markdown", "r.md", "--quiet") == 0
    assert Path("r.html").read_text(encoding="utf-8").lstrip().lower().startswith("<!doctype html")
    assert Path("r.md").read_text(encoding="utf-8").startswith("# ")
    assert sorted(os.listdir()) == ["log.csv", "r.html", "r.md"]


def test_words_costs_groups_and_a_title(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = Path(write("log.csv", 0.5, words=True)).read_text(encoding="utf-8").splitlines()
    grouped = [f"{line},{'ab'[i % 2]}" for i, line in enumerate(lines[1:])]
    Path("log.csv").write_text("\n".join(["y,p,site", *grouped]), encoding="utf-8")
    code = run(
        "log.csv", *USUAL, "--positive", "yes", "--costs", "1:20", "--group", "site",
        "--title", "Ward 7",
    )  # fmt: skip
    out = capsys.readouterr().out
    assert code == 0
    assert "Ward 7" in out
    assert "Trusting costs" in out
    assert "2 groups" in out


@pytest.mark.parametrize("view", ["top-label", "class-wise", "1"])
def test_one_column_per_class(folder: Path, capsys: pytest.CaptureFixture[str], view: str) -> None:
    label, prob = class_data(600)
    names = np.array(["cat", "dog", "owl"])
    lines = [",".join([names[y], *map(repr, p)]) for y, p in zip(label, prob.tolist(), strict=True)]
    head = "what,p_cat,p_dog,p_owl"
    Path("log.csv").write_text("\n".join([head, *lines]), encoding="utf-8")
    listed = [word for name in names for word in ("--prob", f"p_{name}")]
    assert run("log.csv", "--label", "what", "--prob", "p_*", "--view", view) == 0
    first = capsys.readouterr().out
    again = run("log.csv", "--label", "what", *listed, "--classes", "cat,dog,owl", "--view", view)
    assert again == 0
    assert capsys.readouterr().out == first


def test_logits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, 500)
    label = (rng.random(500) < 1 / (1 + np.exp(-0.4 * logits))).astype(int)
    np.savez("log.npz", y=label, z=logits)
    assert run("log.npz", "--label", "y", "--logits", "z") == 0
    assert "over-confident" in capsys.readouterr().out


def test_several_files_are_one_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = Path(write("log.csv", 0.4)).read_text(encoding="utf-8").splitlines()
    Path("a.csv").write_text("\n".join(whole[:150]), encoding="utf-8")
    Path("b.csv").write_text("\n".join([whole[0], *whole[150:]]), encoding="utf-8")
    run("log.csv", *USUAL, "--title", "x")
    first = capsys.readouterr().out
    run("a.csv", "b.csv", *USUAL, "--title", "x")
    assert capsys.readouterr().out == first


@pytest.mark.slow
def test_a_large_file_is_counted_in_a_stream(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    prob = rng.random(130_000)
    np.savez("log.npz", y=(rng.random(130_000) < prob**1.2).astype(np.int8), p=prob)
    shared, quick = cli._shared, AuditSettings(n_draws=99, n_resamples=50, repairs=())
    monkeypatch.setattr(cli, "_shared", lambda options: shared(options) | {"settings": quick})
    assert run("log.npz", *USUAL, "--memory-limit", "1", "--fail-if", "over-forecast") == 1
    out, err = capsys.readouterr()
    assert "counting them in a stream" in err
    assert "130,000 predictions" in out
    assert "Random sample of 100,000 rows" in out
    assert run("log.npz", *USUAL, "--large") == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_a_predicted_class_with_its_confidence(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    label, prob = class_data(300, n_classes=3)
    said, top = prob.argmax(axis=1), prob.max(axis=1)
    names = np.array(["cat", "dog", "owl"])
    columns = {"true": names[label], "said": names[said], "sure": top}
    if kind == "npz":
        np.savez("log.npz", **columns)
    else:
        lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        Path("log.csv").write_text("\n".join(["true,said,sure", *lines]), encoding="utf-8")
    chosen = ("--label", "true", "--prob", "sure", "--predicted", "said")
    assert run(f"log.{kind}", *chosen, "--json", "-") == 0
    found = json.loads(capsys.readouterr().out)
    direct = audit((label == said).astype(int), top)
    assert found["headline"] == direct.headline
    assert found["answers"][2]["numbers"] == direct.to_dict()["answers"][2]["numbers"]
    assert run(f"log.{kind}", *chosen, "--positive", "cat") == 2
    assert "no positive label" in capsys.readouterr().err


# --- what it refuses: one sentence, exit code 2, nothing written ----------------------------------


REFUSED = {
    "no label": (["log.csv", "--prob", "p"], "--label is missing. The columns .* 'y', 'p'"),
    "no prob": (["log.csv", "--label", "y"], "--prob is missing"),
    "unknown column": (["log.csv", "--label", "z", "--prob", "p"], "column 'z' is not there"),
    "no file": (["none.csv", *USUAL], "there is no such file"),
    "no kind": (["log.txt", *USUAL], "the name must end in"),
    "both": (["log.csv", *USUAL, "--logits", "p"], "not both"),
    "unknown code": (["log.csv", *USUAL, "--fail-if", "bad"], "'bad' is no code; codes: aligned"),
    "empty code": (["log.csv", *USUAL, "--fail-if", " , "], "names no code"),
    "costs": (["log.csv", *USUAL, "--costs", "1-20"], "not of the form FP:FN"),
    "negative costs": (["log.csv", *USUAL, "--costs", "1:-2"], "costs"),
    "view": (["log.csv", *USUAL, "--view", "sideways"], "does not exist"),
    "bins": (["log.csv", *USUAL, "--bins", "0"], "bins"),
    "html in no folder": (["log.csv", *USUAL, "--html", "no/r.html"], "names no file in a folder"),
    "html is a folder": (["log.csv", *USUAL, "--html", "."], "names no file in a folder"),
    "html nowhere": (["log.csv", *USUAL, "--html", ""], "names no file in a folder"),
    "markdown on -": (["log.csv", *USUAL, "--markdown=-"], "names no file in a folder"),
    "a device": (["log.csv", *USUAL, "--markdown", os.devnull], "names no file in a folder"),
    "one file for two": (
        ["log.csv", *USUAL, "--markdown", "r", "--json", "./r"],
        "named for two reports",
    ),
    "the same twice": (["log.csv", "./log.csv", *USUAL], "its rows would count twice"),
    "memory": (["log.csv", *USUAL, "--memory-limit", "-1"], "at least 0"),
    "too many bins": (["log.csv", *USUAL, "--bins", "1000000"], "bins must be at most 1,000"),
    "bins off the grid": (["log.csv", *USUAL, "--bins", "11", "--large"], "must divide 25,200"),
    "over the input": (["log.csv", *USUAL, "--json", "log.csv"], "would overwrite"),
    "classes of one": (["log.csv", *USUAL, "--classes", "a,b"], "one different name per column"),
    "positive never": (["log.csv", *USUAL, "--positive", "yes"], "'yes' never occurs"),
    "not a number": (["log.csv", *USUAL, "--bins", "many"], "invalid int value"),
    "no such option": (["log.csv", *USUAL, "--fail", "x"], "unrecognized arguments"),
    "no file at all": ([], "required"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_use_is_refused_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], what: str
) -> None:
    arguments, words = REFUSED[what]
    write("log.csv")
    Path("log.txt").write_text("y,p\n", encoding="utf-8")
    before = {path: Path(path).read_bytes() for path in os.listdir()}
    assert run(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(words, err)
    assert "Traceback" not in err
    assert {path: Path(path).read_bytes() for path in os.listdir()} == before


def test_spaces_between_classes_do_not_matter(folder: Path) -> None:
    label, prob = class_data(200, n_classes=2)
    lines = [f"{'ab'[y]},{p[0]!r},{p[1]!r}" for y, p in zip(label, prob.tolist(), strict=True)]
    Path("log.csv").write_text("\n".join(["y,p,q", *lines]), encoding="utf-8")
    chosen = ("--label", "y", "--prob", "p", "--prob", "q", "--classes", "a, b", "--quiet")
    assert run("log.csv", *chosen) == 0


def test_missing_values_are_named_by_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.csv").write_text("y,p\n1,.5\n0,\n1,.4\n,.3\n0,\n", encoding="utf-8")
    assert run("log.csv", *USUAL) == 2
    assert "no value in column 'p', rows 2, 5" in capsys.readouterr().err


@pytest.mark.slow
def test_names_from_outside_stay_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    evil = "<script>alert(1)</script>\x1b[2J"
    label, prob = class_data(300, n_classes=2)
    lines = [
        f"{(evil, 'b')[y]},{p[0]!r},{p[1]!r}" for y, p in zip(label, prob.tolist(), strict=True)
    ]
    Path("log.csv").write_text("\n".join([f"y,p_{evil},p_b", *lines]), encoding="utf-8")
    code = run("log.csv", "--label", "y", "--prob", "p_*", "--html", "r.html",
               "--markdown", "r.md", "--title", evil, "--view", "0")  # fmt: skip
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "\x1b" not in out + err
    page = Path("r.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "<script>" not in Path("r.md").read_text(encoding="utf-8")
    assert sorted(os.listdir()) == ["log.csv", "r.html", "r.md"]


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("log.csv")
    Path("r.json").write_text("old", encoding="utf-8")

    def fail(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)
    assert run("log.csv", *USUAL, "--json", "r.json") == 2
    assert "no space left" in capsys.readouterr().err
    assert Path("r.json").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == ["log.csv", "r.json"]


INTERRUPTED = """
import sys

class AsNumpyLoads:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, AsNumpyLoads())
from calibkit.__main__ import run
sys.exit(run())
"""


def test_an_interruption_of_the_first_second_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "calibkit: interrupted\n")


def test_interruption_and_lack_of_memory(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("log.csv")
    for error, code in ((KeyboardInterrupt, 130), (MemoryError, 2)):

        def fail(error: type[BaseException] = error, **_: Any) -> None:
            raise error

        monkeypatch.setattr(cli, "audit", lambda **_: fail())
        assert run("log.csv", *USUAL) == code
        assert "calibkit: " in capsys.readouterr().err


# --- help, doctor, the program itself -------------------------------------------------------------


def test_help_tells_exit_codes_and_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "exit codes: 0 the audit was made" in text
    for codes in CODES.values():
        for code in codes:
            assert code in text.replace("- ", "-")
    assert main(["--version"]) == 0
    assert main([]) == 2


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "All is well." in out
    assert "0.252525, as it must be" in out
    monkeypatch.setattr(doctor, "installed_version", lambda name: "" if name == "scipy" else "9")
    monkeypatch.setattr(doctor, "CHECKS", {})
    assert main(["doctor"]) == 2
    said = " ".join(capsys.readouterr().out.split())
    assert "✗ scipy missing; run: pip install scipy" in said


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_python_m_calibkit(tmp_path: Path, encoding: str) -> None:
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)}
    path = write(str(tmp_path / "log.csv"), 0.4)
    command = [sys.executable, "-m", "calibkit", "audit", path, *USUAL, "--fail-if", "costly"]
    done = subprocess.run(
        command, capture_output=True, check=False, env=environment, cwd=tmp_path, timeout=1200
    )
    assert done.returncode == 0, done.stderr
    assert b"Miscalibrated beyond chance" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a shell's pipe")
@pytest.mark.parametrize(("option", "code"), [("", 0), ("--fail-if miscalibrated", 1)])
def test_a_closed_pipe_is_no_error_and_hides_no_verdict(
    tmp_path: Path, option: str, code: int
) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    path = write(str(tmp_path / "log.csv"), 0.4)
    command = f"{sys.executable} -m calibkit audit {path} --label y --prob p {option} | true"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True, check=False, env=environment, cwd=tmp_path, timeout=1200,
    )  # fmt: skip
    assert (b"condition met" in done.stderr) == bool(code)
    assert b"Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.parametrize("name", ["log.csv.gz", "log.npz"])
def test_a_flipped_bit_is_bad_input_and_no_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """Wherever the bit is: the file is read to the end, or one sentence names it."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500), rng.random(500).round(6)
    if name.endswith(".npz"):
        np.savez_compressed(name, y=y, p=p)
    else:
        rows = "\n".join(f"{a},{b}" for a, b in zip(y, p, strict=True))
        Path(name).write_bytes(gzip.compress(f"y,p\n{rows}\n".encode()))
    whole = Path(name).read_bytes()
    for place in rng.integers(0, len(whole), 40):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        Path(name).write_bytes(broken)
        code = run(name, *USUAL, "--quiet")
        err = capsys.readouterr().err
        assert code in (0, 2)
        assert (len(err.splitlines()) == 1 and name in err) == (code == 2), err


def test_groups_are_no_labels(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("log.csv", 0.4)
    for column in ("y", "p"):
        assert run("log.csv", *USUAL, "--group", column) == 2
        assert f"The groups' column '{column}' is the labels'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a limit of memory and sparse files")
def test_a_hole_of_ten_gigabytes_fits_into_little_memory(tmp_path: Path) -> None:
    import resource

    path = tmp_path / "hole.csv"
    path.write_text("y,p\n1,.5\n0,.25\n", encoding="utf-8")
    with path.open("r+b") as file:
        file.truncate(10 * 2**30)
    limit = 4 * 2**30
    done = subprocess.run(
        [sys.executable, "-m", "calibkit", "audit", str(path), *USUAL],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=1200,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 2
    assert b"hole.csv" in done.stderr
    assert b"Traceback" not in done.stderr
