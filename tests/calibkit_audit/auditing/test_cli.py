"""The command `calibkit`: what it prints, writes and returns, and what it refuses."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import expit, logit

from calibkit.fakes import LogitDistortion
from calibkit_audit import cli, doctor, estimate_rate
from calibkit_audit.auditing import COMPARISON_CODES, audit, audit_table
from calibkit_audit.auditing.predictions import keep_rows
from calibkit_audit.auditing.settings import CODES
from calibkit_audit.cli import main
from calibkit_audit.counts import readers
from tests.calibkit_audit.test_doctor import version_without
from tests.helpers import class_data
from tests.paths import ROOT

USUAL = ("--label", "y", "--prob", "p")
PAIR = ("--label", "y", "--prob", "bold,fair")
JSON = ("--json", "-")
ANIMALS = np.array(["cat", "dog", "owl"])


class Said(NamedTuple):
    """Exit code, and what was printed."""

    code: int
    out: str
    err: str


Run = Callable[..., Said]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Run:
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*words: str) -> Said:
        capsys.readouterr()
        return Said(main(list(words)), *capsys.readouterr())

    return command


def findings(said: Said) -> str:
    """Return what was printed, without where it comes from."""
    assert said.code == 0 and not said.err
    return said.out.partition("\ndate: ")[0]


def csv(path: str, head: str, *columns: Any) -> str:
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    Path(path).write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def log(slope: float = 1.0, path: str = "log.csv") -> str:
    """Write 400 labels with probabilities whose logits were stretched by 1 / slope."""
    data = LogitDistortion(slope=slope).sample(400, rng=1)
    return csv(path, "y,p", data.y_true, data.y_prob)


def two_models() -> str:
    """Write a bold model and a fair one, and a group."""
    rng = np.random.default_rng(5)
    true = rng.beta(0.8, 1.2, 1500)
    y = (rng.random(1500) < true).astype(int)
    site = np.where(np.arange(1500) % 2, "g1", "g0")
    return csv("log.csv", "y,bold,fair,site", y, expit(2 * logit(true)), true, site)


def read(path: str) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


# --- audit ---------------------------------------------------------------------------------------


def test_an_audit_is_printed(run: Run) -> None:
    said = run("audit", log(0.4), *USUAL)
    assert said.code == 0 and said.err == ""
    assert "Miscalibrated beyond chance: over-confident" in said.out
    assert "log.csv: y by p: 400 predictions" in said.out
    for number in range(1, 7):
        assert re.search(rf"^{number}\. .*\?$", said.out, re.MULTILINE), number
    assert run("audit", "log.csv", *USUAL).out == said.out  # the same seed, the same words


@pytest.mark.parametrize(
    ("command", "prob", "condition", "code"),
    [
        ("audit", "bold", "miscalibrated", 1),
        ("audit", "bold", "no evidence, mixed, over-confident", 1),
        ("audit", "bold", "under-confident", 0),
        ("audit", "fair", "miscalibrated", 0),
        ("audit", "fair", "no evidence", 1),
        ("compare", "bold,fair", "worse log loss", 0),
        ("compare", "bold,fair", "worse miscalibration, better log loss", 1),
        ("compare", "fair,bold", "worse log loss", 1),
        ("compare", "fair,bold", "not separated", 0),
    ],
)
def test_conditions_for_a_pipeline(
    run: Run, command: str, prob: str, condition: str, code: int
) -> None:
    chosen = ("--label", "y", "--prob", prob, "--fail-if", condition, "--quiet")
    said = run(command, two_models(), *chosen)
    assert (said.code, said.out) == (code, "")
    assert ("condition met" in said.err) == bool(code)


@pytest.mark.slow
def test_pages_are_written(run: Run) -> None:
    pytest.importorskip("matplotlib")
    pages = ("--html", "r.html", "--json", "r.json", "--quiet")
    assert run("audit", log(0.4), *USUAL, *pages) == (0, "", "")
    assert Path("r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html")
    assert sorted(os.listdir()) == ["log.csv", "r.html", "r.json"]
    stored, printed = read("r.json"), json.loads(run("audit", "log.csv", *USUAL, "--json", "-").out)
    for found in (stored, printed):
        command = found.pop("command")
        assert command.startswith("calibkit audit log.csv --label y")
        assert command.endswith("--seed 0")
    assert printed == stored
    text = Path("r.html").read_text(encoding="utf-8")
    assert all(word in text for word in ("calibkit audit log.csv", "200 events"))


def columns_of_rows(n: int = 200) -> dict[str, Any]:
    """Return labels and predictions of two and of three classes, and what stands beside."""
    rng, data = np.random.default_rng(3), LogitDistortion(slope=0.5).sample(n, rng=1)
    label, prob = class_data(n)
    guess, y = ANIMALS[prob.argmax(axis=1)], data.y_true.astype(int)
    tables = {"r": prob.round(2), "z": np.log(prob) + 1}
    columns = {
        "y": y,
        "p": data.y_prob,
        "word": np.where(y == 1, "yes", "no"),
        "gaps": np.where(np.arange(n) == 7, np.nan, y),
        "holes": np.where(np.arange(n) == 9, np.nan, data.y_prob),
        "patient": np.arange(n) % 150,
        "doctor": rng.integers(0, 30, n),
        "ward": rng.choice(["a", "b"], n),
        "day": np.arange(n),
        "size": rng.integers(1, 4, n),
        "animal": ANIMALS[label],
        "sure": prob.max(axis=1),
        "guess": guess,
        "right": (ANIMALS[label] == guess).astype(int),
        **{f"{k}_{a}": t[:, i] for k, t in tables.items() for i, a in enumerate(ANIMALS)},
    }
    return {name: values.tolist() for name, values in columns.items()}


# What Python is asked, and the command, whose options have the same names but for these.
IN_THE_COMMAND = {"sample_weight": "weight", "class_names": "classes", "rng": "seed"}
ASKED: list[dict[str, Any]] = [
    {"label": "word", "prob": "p", "positive": "yes", "costs": "1:20", "groups": "ward"},
    {"label": "y", "prob": "p", "cluster": ["patient", "doctor"], "groups": ["day", "ward"]},
    {"label": "y", "prob": "p", "time": "day"},
    {"label": "y", "prob": "p", "sample_weight": "size", "independent": True},
    {"label": "gaps", "prob": "holes", "drop_missing": True, "rng": 3},
    {"label": "animal", "prob": "sure", "predicted": "guess"},
    {"label": "right", "prob": "sure", "predicted": True},
    {"label": "animal", "prob": "r_*", "rescale": True, "view": "class-wise"},
    {"label": "animal", "logits": "z_*", "view": 1},
]


@pytest.mark.slow
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_the_command_says_of_a_file_what_python_says_of_a_table(run: Run, asked: Any) -> None:
    columns, words = columns_of_rows(), ["--title=log"]
    for name, value in asked.items():
        option = f"--{IN_THE_COMMAND.get(name, name).replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            shown = "" if one is True and name != "predicted" else f"={one}".lower()
            words.append(f"{option}{shown}")
    said = run("audit", csv("log.csv", ",".join(columns), *columns.values()), *words, *JSON)
    wanted = str(list(asked.values()))
    named = {n: v for n, v in columns.items() if f"'{n}'" in wanted or f"'{n[:2]}*'" in wanted}
    found, own = json.loads(said.out), audit_table(named, title="log", **asked).to_dict()
    for key in own.keys() - {"command"}:
        assert found[key] == own[key], key


def test_a_large_file_is_audited_by_a_random_sample(run: Run, monkeypatch: Any) -> None:
    limit = ("--memory-limit", "0")
    monkeypatch.setattr(cli, "keep_rows", partial(keep_rows, sample=1000))
    two_models()
    words = "1,000 rows drawn at random from 1,500, and numbered among themselves"
    said = run("audit", "log.csv", *USUAL[:3], "bold", *limit, "--fail-if", "over-confident")
    assert said.code == 1 and f"({words}): 1,000 predictions" in said.out
    found = json.loads(run("compare", "log.csv", *PAIR, *limit, "--json", "-").out)
    assert found["n"] == 1000 and found["notes"][0] == f"Rows: {words}."
    refused = run("audit", "log.csv", *USUAL[:3], "bold", "--cluster", "site", *limit)
    assert refused.code == 2 and "needs all rows in memory" in refused.err
    Path("log.csv").write_text(Path("log.csv").read_text() + "2,.5,.5,a\n")
    assert "row 1,501" in run("audit", "log.csv", *USUAL[:3], "bold", *limit).err


def test_an_edge_is_one_in_every_kind_of_file(run: Run) -> None:
    prob = np.repeat([0.6, 0.7], 500)
    y = np.repeat([1, 0, 1, 0], [200, 300, 450, 50])
    np.savez("log.npz", y=y, p=prob.astype(np.float32))
    for path in (csv("log.csv", "y,p", y, prob), "log.npz"):
        said = run("audit", path, *USUAL, "--bins", "10")
        assert "calibration error 0.2000" in " ".join(said.out.split())


# --- rows as people have them --------------------------------------------------------------------


CLASSES = ("--label", "y", "--prob", "cat,dog,owl")


def answers(said: Said) -> Any:
    """Return the answers of a report in JSON, and its title with the first note."""
    assert said.code == 0, said.err
    found = json.loads(said.out)
    return found["answers"], found["title"] + found["notes"][0]


PLAIN = LogitDistortion(slope=0.5).sample(400, rng=1)
Y, P = PLAIN.y_true.astype(int).tolist(), PLAIN.y_prob.round(3).tolist()
TEXT, CENT, NAMED = (
    "y,p\n" + "".join(row.format(y=Y[k], p=P[k], cent=100 * P[k], k=k) for k in range(400))
    for row in ("{y},{p}\n", "{y},{cent:.1f} %\n", "{k},{p}\n")
)
GONE = "400 rows with predictions in per cent, divided by 100"
# What stands in a file, options and words of reports that all say the same.
SAME = {
    "marks": (TEXT.replace(",", ";").replace(".", ","), "--delimiter ; --decimal ,", ""),
    "per cent": (CENT.replace(" %", ""), "--percent", GONE),
    "with signs": (CENT.replace("2 %", "2%"), "--percent", GONE),
    "gaps": (f"{TEXT}NA,.5\n1,\nnan,.5\n1,none\n,\n", "--drop-missing", "(5 rows without label or"),
    "labels elsewhere": (f"{NAMED}x,.5\n", "--labels l.csv --on id --drop-missing", "(1 row with"),
}


@pytest.mark.parametrize("name", SAME)
def test_rows_as_people_have_them_give_one_report(run: Run, name: str) -> None:
    text, options, words = SAME[name]
    Path("log.csv").write_text(text.replace("y,p", "id,p") if "--on" in options else text)
    order = np.random.default_rng(0).permutation(400)
    csv("l.csv", "y,id", np.array(Y)[order], order)
    found, said = answers(run("audit", "log.csv", *USUAL, *options.split(), *JSON))
    assert found == audit(Y, P).to_dict()["answers"]
    assert words in said


def test_rows_without_a_value_are_left_out_of_all_models_and_of_a_monitor(run: Run) -> None:
    head, *rows = Path(two_models()).read_text(encoding="utf-8").splitlines()
    whole = json.loads(run("compare", "log.csv", *PAIR, *JSON).out)
    gaps = ["NA,.5,.5,a", "1,,.5,a", *rows, "nan,.5,.5,a", "1,none,.5,a", ",,,", "1,.5,NA,b"]
    Path("log.csv").write_text("\n".join([head, *gaps]), encoding="utf-8")
    found = json.loads(run("compare", "log.csv", *PAIR, "--drop-missing", *JSON).out)
    assert found["differences"] == whole["differences"]
    assert found["notes"][0] == "Rows: 6 rows without label or prediction left out."
    watched = run("monitor", "log.csv", *PAIR[:3], "fair", "--state", "s.json", "--drop-missing")
    assert "note: 4 rows without label or prediction left out." in watched.err


def test_rows_are_rescaled_where_they_were_rounded_only(run: Run) -> None:
    label, prob = class_data(300)
    rounded = prob.round(2)
    total = rounded.sum(axis=1, keepdims=True)
    off = np.abs(total - 1) > 1e-9

    def written(table: Any) -> str:
        return csv("log.csv", "y,cat,dog,owl", ANIMALS[label], *table.T)

    refused = run("audit", written(rounded), *CLASSES).err
    assert "--rescale" in refused and f"{off.sum()} of 300 read at once" in refused
    found, words = answers(run("audit", "log.csv", *CLASSES, "--rescale", *JSON))
    note = f"{off.sum()} rows divided by their sum, which was not 1"
    assert words.count(note) == 2
    head = ",".join(["y", *(f"{model}_{name}" for model in "ab" for name in ANIMALS)])
    csv("ab.csv", head, ANIMALS[label], *rounded.T, *np.where(off, rounded, prob).T)
    both = run("compare", "ab.csv", "--label", "y", "--prob", "a_*,b_*", "--rescale")
    assert f"{note}): 300 predictions" in both.out  # of two models, and once
    written(np.where(off, rounded / total, rounded))
    assert answers(run("audit", "log.csv", *CLASSES, *JSON))[0] == found
    for row in ((0, 0, 0), (0.2, 0.3, 0.3), (0.4, 0.4, 0.4)):
        rounded[5] = row
        said = run("audit", written(rounded), *CLASSES, "--rescale")
        assert said.code == 2 and "row 6: " in said.err and "from 0.9 to 1.1" in said.err


def test_stated_confidences_are_compared_as_top_labels(run: Run) -> None:
    columns = columns_of_rows()
    csv("log.csv", ",".join(columns), *columns.values())
    right, guess = ("--label", "right", "--predicted", "true"), ("--predicted", "guess")
    two_way = ("--label", "animal", "--cluster", "patient", "--cluster", "doctor")
    for more in (right, guess + two_way):
        found = json.loads(run("compare", "log.csv", *more, "--prob", "sure,p", *JSON).out)
        assert (found["view"], found["n"]) == ("top-label", 200)


# --- compare -------------------------------------------------------------------------------------


def test_a_comparison_is_printed(run: Run) -> None:
    more = ("--costs", "1:9")
    said = run("compare", two_models(), *PAIR, *more)
    assert said.code == 0 and said.err == ""
    for text in (
        "log.csv: y by bold,fair: 1,500 predictions",
        "fair is better than bold: by",
        "in cost per prediction",
    ):
        assert text in said.out
    named = json.loads(run("compare", "log.csv", *PAIR, "--positive", "1", *JSON).out)
    assert named["view"] == "y = 1"
    twice = ("--label", "y", "--prob", "bold", "--prob", "fair")
    titled = (*more, "--title", "x")
    again = findings(run("compare", "log.csv", *twice, *titled))
    assert again == findings(run("compare", "log.csv", *PAIR, *titled))


def test_classes_in_another_order_are_matched_by_name(run: Run) -> None:
    label, prob = class_data(400)
    order = [2, 0, 1]
    head = ["what", *(f"a_{n}" for n in ANIMALS), *(f"b_{n}" for n in ANIMALS[order])]
    csv("animals.csv", ",".join(head), ANIMALS[label], *prob.T, *prob.T[order])
    said = run("compare", "animals.csv", "--label", "what", "--prob", "a_*,b_*")
    assert said.code == 0 and said.out.count("equal") >= 3
    assert "a and b" in said.out or "b and a" in said.out
    assert "better" not in said.out and "worse" not in said.out


# --- a rate, from a judge ------------------------------------------------------------------------


def judged() -> str:
    """Write 400 answers to 100 questions, a judge who is too kind, and labels of every fourth."""
    rng = np.random.default_rng(0)
    chance, k = rng.beta(2, 1, 400).round(4), np.arange(400)
    passed = (rng.random(400) < chance).astype(int)
    few = np.where(k // 4 % 4 == 0, passed, -1)
    texts = ["" if one < 0 else one for one in few], ["" if one < 0 else 3 * one for one in few]
    return csv("j.csv", "id,score,human,votes,raters,q", k, chance**0.5, *texts, [3] * 400, k // 4)


RATE = ("rate", "j.csv", "--judge", "score", "--cluster", "q")


def test_a_rate_is_estimated_from_shares_counts_and_a_file_of_labels(run: Run) -> None:
    judged()
    said = run(*RATE, "--label", "human")
    assert (said.code, said.err) == (0, "") and "Of 100 rows the judge's scores expect" in said.out
    assert "two error rates     needs verdicts of 0 and 1" in said.out
    assert "400 rows, 100" in said.out
    found = json.loads(run(*RATE, "--label", "human", *JSON).out)
    table = np.genfromtxt("j.csv", delimiter=",", names=True)
    own = estimate_rate(table["score"], table["human"], cluster=table["q"])
    assert found["rate"][1] == pytest.approx(own.rate[1]) and found["rate"][3] is None
    counts = json.loads(run(*RATE, "--label", "votes", "--raters", "raters", *JSON).out)
    assert counts["rate"] == found["rate"] and counts["labelled"] == 100
    rows = [row.split(",") for row in Path("j.csv").read_text().splitlines()[1:]]
    csv("l.csv", "id,people", *zip(*((row[0], row[2]) for row in rows), strict=True))
    other = run(*RATE, "--label", "people", "--labels", "l.csv", "--on", "id", *JSON)
    np.savez("k.npz", score=table["score"][:4], human=table["human"][:4], q=table["q"][:4])
    assert "404 rows" in run("rate", "k.npz", *RATE[1:], "--label", "human").out  # as words
    assert json.loads(other.out)["rate"] == found["rate"]


# --- what it refuses: one sentence, exit code 2, nothing written ----------------------------------


FOLDER = "names no file in a folder"
# What is asked of the command, and what it says.
REFUSED = {
    "audit log.csv --prob p": "--label is missing. The columns .* 'y', 'p'",
    "audit log.csv --label y": "--prob is missing",
    "audit none.csv USUAL": "there is no such file",
    "audit log.csv USUAL --logits p": "not both",
    "audit log.csv USUAL --fail-if bad": "'bad' is no code; codes: aligned",
    "audit log.csv USUAL --fail-if not-x,costly": "no code",
    "audit log.csv USUAL --fail-if costly": "'costly' needs --costs",
    "audit log.csv USUAL --fail-if 'group miscalibrated'": "needs --group",
    "audit log.csv USUAL --seed -1": "--seed are at least 0",
    "audit log.csv USUAL --fail-if ,": "'' is no code",
    "audit log.csv USUAL --costs 1-20": "not of the form FP:FN",
    "audit log.csv USUAL --view sideways": "does not exist",
    "audit log.csv USUAL --bins 0": "bins",
    "audit log.csv USUAL --html no/r.html": FOLDER,
    "audit log.csv USUAL --html .": FOLDER,
    "audit log.csv USUAL --html=-": FOLDER,
    f"audit log.csv USUAL --html {os.devnull}": FOLDER,
    "audit log.csv USUAL --html r --json ./r": "'./r' would overwrite .* another report",
    "audit log.csv USUAL --memory-limit -1": "at least 0",
    "audit log.csv USUAL --json log.csv": "would overwrite",
    "audit log.csv USUAL --group y": "no groups.* label 'y'",
    "audit log.csv USUAL --group p": "no groups.* probabilities 'p'",
    "audit zero.csv USUAL": "y = 1 never occurs",
    "audit marks.csv USUAL": "--delimiter ';'",
    "audit cent.csv USUAL": "--percent",
    "audit log.csv --label y --logits p --percent": "logits are no",
    "audit cent.csv USUAL --percent": "row 2.* divided by 100, is not",
    "audit log.csv USUAL --rescale": "nor is one column",
    "audit gap.csv USUAL --drop-missing": r"no rows \(1 row without label",
    "audit cent.csv USUAL --drop-missing": "row 2: 'p' = 100.5",
    "audit log.csv USUAL --labels gap.csv": "go together",
    "audit log.csv USUAL --labels two.csv --on p": "row 2: 'p' = '.5' comes tw",
    "audit two.csv USUAL --labels gap.csv --on p": "Labels are found by 'p' in 'gap.csv'",
    "audit log.csv --label y --logits p": r"y_prob= \(command line: --prob\)",
    "monitor log.csv --label y --logits p --state s": "line: --prob",
    "audit log.csv USUAL --fail x": "unrecognized arguments",
    "": "required",
    "compare log.csv USUAL": "two or more different models",
    "compare log.csv --label y --prob p,p": "two or more different models",
    "compare zero.csv PAIR --fail-if miscalibrated": "is no code",
    "compare zero.csv PAIR": "y = 1 never occurs",
    "compare four.csv --label y --prob a_*,b_*": "have different classes: x, y and x, z",
    "RATE score --label votes": "row 1: 'votes' = 3 of 1 is no share.*; of counts name",
    "RATE score --label human --raters id": "row 1: 'human' = 1 of 0 is no share",
    "RATE q --label human": "row 9: 'q' = 2 is not .* Each row needs the judge's",
    "RATE human --label score": r"row 5: no value .*'human' \(300 of 400 .* Each row needs",
    "RATE score --label human --chance q": "row 9: 'q' = 2 is not .* needs the prob",
    "RATE score --label human --raters no": "column 'no' is not there",
    "RATE score": "the following arguments are required: --label",
}


@pytest.mark.parametrize(("command", "words"), REFUSED.items())
def test_wrong_use_is_refused_in_a_sentence(run: Run, command: str, words: str) -> None:
    log(), judged()
    for name, text in {
        "log.txt": "y,p\n",
        "four.csv": "y,a_x,a_y,b_x,b_z\nx,.5,.5,.5,.5\ny,.5,.5,.5,.5\n",
        "marks.csv": "y;p\n1;,5\n",
        "cent.csv": "y,p\n,50\n1,100.5\n",
        "gap.csv": "y,p\n,.5\n",
        "two.csv": "y,p\n1,.5\n0,.5\n",
        "zero.csv": "y,p,bold,fair\n0,.1,.1,.2\n0,.3,.3,.2\n",
    }.items():
        Path(name).write_text(text, encoding="utf-8")
    before = {path: Path(path).read_bytes() for path in os.listdir()}
    short = {"USUAL": " ".join(USUAL), "PAIR": " ".join(PAIR), "RATE": "rate j.csv --judge"}
    for name, usual in short.items():
        command = command.replace(name, usual)
    said = run(*shlex.split(command))
    assert (said.code, said.out) == (2, "")
    assert re.search(words, said.err), said.err
    assert "Traceback" not in said.err
    assert {path: Path(path).read_bytes() for path in os.listdir()} == before


@pytest.mark.slow
def test_names_from_outside_stay_text(run: Run) -> None:
    evil = "<script>alert(1)</script>\x1b[2J"
    label, prob = class_data(300, n_classes=2)
    csv("log.csv", f"y,p_{evil},p_b", np.array([evil, "b"])[label], *prob.T)
    more = ("--html", "r.html", "--title", evil, "--view", "0")
    said = run("audit", "log.csv", "--label", "y", "--prob", "p_*", *more)
    assert said.code == 0, said.err
    assert "\x1b" not in said.out + said.err
    assert "<script>" not in Path("r.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_written_leaves_the_old_one(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    log()
    Path("r.json").write_text("old", encoding="utf-8")

    def fail(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)
    said = run("audit", "log.csv", *USUAL, "--json", "r.json")
    assert said.code == 2 and "no space left" in said.err
    assert Path("r.json").read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir()) == ["log.csv", "r.json"]


INTERRUPTED = """
import sys

class AsNumpyLoads:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            raise KeyboardInterrupt

sys.meta_path.insert(0, AsNumpyLoads())
from calibkit_audit.__main__ import run
sys.exit(run())
"""


def test_an_interruption_of_the_first_second_is_one_line() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "calibkit: interrupted\n")


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (MemoryError, 2)])
def test_interruption_and_lack_of_memory(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], code: int
) -> None:
    def fail(**_: Any) -> None:
        raise error

    monkeypatch.setattr(cli, "audit", fail)
    said = run("audit", log(), *USUAL)
    assert said.code == code and "calibkit: " in said.err


@pytest.mark.parametrize("name", ["log.csv.gz", "log.npz"])
def test_a_flipped_bit_is_bad_input_and_no_verdict(run: Run, name: str) -> None:
    """Wherever the bit is: the file is read to the end, or one sentence names it."""
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 500), rng.random(500).round(6)
    if name.endswith(".npz"):
        np.savez_compressed(name, y=y, p=p)
    else:
        text = Path(csv("log.csv", "y,p", y, p)).read_bytes()
        Path(name).write_bytes(gzip.compress(text, mtime=0))
    whole = Path(name).read_bytes()
    for place in rng.integers(0, len(whole), 40):
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        Path(name).write_bytes(broken)
        code, _, err = run("audit", name, *USUAL, "--quiet")
        assert code in (0, 2), place
        assert (len(err.splitlines()) == 1 and name in err) == (code == 2), (place, err)


# --- a monitor ------------------------------------------------------------------------------------


def day(name: str, shift: float, seed: int, rows: int = 800) -> str:
    """Write predictions of one day; their logits are said `shift` too low."""
    rng = np.random.default_rng(seed)
    truth = rng.random(rows)
    words = np.where(rng.random(rows) < truth, "yes", "no")
    return csv(name, "y,p", words, expit(logit(truth) - shift))


WATCH = (*USUAL, "--positive", "yes", "--state", "s.json", "--model", "may")


def test_a_monitor_looks_at_each_day_once_and_remembers(run: Run, subtests) -> None:
    day("monday.csv", 0, 0), day("tuesday.csv", 0.8, 1), day("wednesday.csv", 0, 2)
    os.mkdir("later"), day("later/monday.csv", 0, 3)
    first = run("monitor", "monday.csv", *WATCH)
    assert (first.code, first.err) == (0, "") and first.out.startswith("No alarm (may, 800 ")
    kept = Path("s.json").read_bytes()
    for options, words in (
        (("monday.csv",), "its rows have counted already, or may have, as 'monday.csv'"),
        (("later/monday.csv",), "already, or may have, as 'monday.csv'. Leave it out; new"),
        (("tuesday.csv", "--model", "june"), "model='may', not 'june'"),
        (("tuesday.csv", "--alpha", "0.01"), "alpha=0.05, not 0.01"),
        (("none.csv",), "no such file"),
        (("tuesday.csv", "--json", "s.json"), "another report"),
    ):
        with subtests.test(words):
            said = run("monitor", options[0], *WATCH, *options[1:])
            assert (said.code, said.out) == (2, "") and words in said.err
            assert Path("s.json").read_bytes() == kept
    Path("none.csv").write_text("y,p\nno,.1\nno,.2\n")  # no event today; none is misspelt
    assert run("monitor", "none.csv", *WATCH, "--quiet") == (0, "", "")
    found = json.loads(run("monitor", "tuesday.csv", *WATCH, "--json", "-").out)
    assert 802 < found["alarm"] < 1602 and found["n"] == 1602
    later = run("monitor", "wednesday.csv", *WATCH)
    assert later.code == 1 and f"Alarm at row {found['alarm']:,}" in later.out


def test_a_monitor_reads_blocks_logits_and_classes(run: Run, monkeypatch) -> None:
    day("d.csv", 0.3, 0, rows=3000)
    table = np.genfromtxt("d.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
    csv("z.csv", "y,p", table["y"], logit(table["p"]))
    csv("k.csv", "y,p_no,p_yes", table["y"], 1 - table["p"], table["p"])
    kinds = ("d.csv", *WATCH[:4]), ("z.csv", "--label", "y", "--logits", "p"), ("k.csv",)
    more = ("--positive", "yes"), ("--positive", "yes"), ("--label", "y", "--prob", "p_*")
    found = []
    for (path, *columns), options in zip(kinds, more, strict=True):
        state = ("--state", f"{path}.json", "--json", "-", "--model", "m")
        view = ("--view", "1") if path == "k.csv" else ()
        monkeypatch.setattr(readers, "CSV_VALUES", 1000)
        found.append(json.loads(run("monitor", path, *columns, *options, *state, *view).out))
    for other in found[1:]:
        assert other == pytest.approx(found[0])


# --- help, doctor, the program itself -------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "codes"),
    [("audit", [code for codes in CODES.values() for code in codes]),
     ("compare", [*COMPARISON_CODES, "only what holds for all models and measures"]),
     ("monitor", ["no alarm", "an alarm, now or before"])],
)  # fmt: skip
def test_help_tells_exit_codes_and_verdicts(run: Run, command: str, codes: list[str]) -> None:
    text = " ".join(run(command, "--help").out.split()).replace("- ", "-")
    assert "exit codes: 0 " in text
    assert [code for code in codes if code not in text] == []


def test_every_option_is_one_of_a_command_that_exists() -> None:
    said = tomllib.loads((ROOT / "calibkit_audit/cli/options.toml").read_text("utf-8"))
    takers = [name for rows in said["options"].values() for row in rows for name in row[0].split()]
    assert set(takers) == set(said["commands"])


def test_doctor(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = run("doctor")
    assert said.code == 0
    assert "All is well." in said.out
    monkeypatch.setattr(doctor, "version", version_without("scipy"))
    said = run("doctor")
    assert said.code == 2
    assert "✗ scipy missing; run: pip install scipy" in " ".join(said.out.split())


def program(command: list[Any], **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | options.pop("env", {})
    return subprocess.run(
        command, capture_output=True, check=False, env=environment, timeout=1200, **options
    )


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a shell's pipe")
@pytest.mark.parametrize(("option", "code"), [("", 0), ("--fail-if miscalibrated", 1)])
def test_a_closed_pipe_is_no_error_and_hides_no_verdict(
    tmp_path: Path, option: str, code: int
) -> None:
    path = log(0.4, str(tmp_path / "log.csv"))
    command = f"{sys.executable} -m calibkit_audit audit {path} --label y --prob p {option} | true"
    done = program(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path)
    assert (b"condition met" in done.stderr) == bool(code)
    assert b"Traceback" not in done.stderr
    assert done.returncode == code


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs a locale and names of bytes")
def test_signs_and_names_without_unicode(tmp_path: Path) -> None:
    """A name that is not UTF-8 is read, and a sign that cannot be shown is not the unknown one."""
    name = b"log\xff.csv"
    log(0.4, os.fsdecode(tmp_path) + "/" + os.fsdecode(name))
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    command = [os.fsencode(sys.executable), b"-m", b"calibkit_audit", b"audit", name]
    words = (b"--label", b"y", b"--prob", b"p", b"--json", b"r.json")
    done = program([*command, *words], cwd=tmp_path, env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert b"x Miscalibrated beyond chance" in done.stdout
    assert b"? costs unknown" in done.stdout
    assert read(str(tmp_path / "r.json"))["title"] == "log\ufffd.csv: y by p"
