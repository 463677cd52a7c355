"""Answers to the exercises of lesson 14, wrong and right, and the numbers that it states."""

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit, softmax

from calibkit import log_loss
from calibkit.calibrators import PlattCalibrator
from calibkit.fakes import LogitDistortion
from calibkit_audit.auditing import AuditReport, AuditSettings, audit
from calibkit_course import data, lesson14, open_lesson
from calibkit_course.learn import State
from calibkit_course.lesson14 import VerbalModel, mended_file, sample_file
from calibkit_course.lesson14.checks import _gains
from tests.paths import lesson_text

CHECKS = open_lesson("14", keep=False).checks
PREDICTIONS = open_lesson("14", keep=False).predictions
RUBRIC = CHECKS["14.2"].rubric
MODEL, POINTS = RUBRIC.model, RUBRIC.points  # type: ignore[union-attr]

# --- 14.1 --------------------------------------------------------------------------------------

Z = 1.6448536269514722


def needed(p: Any, half: float, z: float = Z) -> int:
    return math.ceil((z / half) ** 2 * np.mean(np.asarray(p) * (1 - np.asarray(p))))


def by_loop(p: Any, half: float) -> int:
    n = 1
    while Z * math.sqrt(np.mean(p * (1 - p)) / n) > half:
        n += 1
    return n


# --- 14.3 --------------------------------------------------------------------------------------

BROKEN = sample_file("broken file")
LABELS, PROB = mended_file()
GIVEN = np.array(BROKEN.y_prob)
DIVIDED = GIVEN / GIVEN.sum(axis=1, keepdims=True)
KEPT = np.abs(GIVEN.sum(axis=1) - 1) < 1e-5
TOP = np.array(PROB)
TOP[400:440] = [[0.2, 0.2, 0.6]]


def some_wrong() -> Any:
    return np.concatenate([(LABELS[:3] + 1) % 3, LABELS[3:]])


# --- 14.4 --------------------------------------------------------------------------------------

SPOKEN = sample_file("language model")
Y, P = SPOKEN.y_true, SPOKEN.y_prob
GAIN = _gains()

WRONG: dict[str, list[tuple[Any, str]]] = {
    "14.1": [
        (lambda p, h: needed(p, h, 1.959964), "95 % interval"),
        (lambda p, h: math.ceil((Z / h) ** 2 / 4), "p = 1/2 for all"),
        (lambda p, h: math.ceil((Z / h) ** 2 * np.var(p)), "predictions differ"),
        (lambda p, h: math.ceil(Z / h * np.mean(p * (1 - p))), "not squared"),
        (lambda p, h: needed(p, 2 * h), "whole width"),
        (lambda p, h: math.ceil((Z / h) ** 2 * p.mean() * (1 - p.mean())), "Average p (1 - p)"),
        (lambda p, h: (Z / h) ** 2 * np.mean(p * (1 - p)), "round up"),
        (lambda p, h: needed(p, h / 2), "halves the half-width"),
        (lambda p, h: needed(p, h, 1), "one standard deviation"),
        (lambda p, h: needed(p, h) / len(p), "once more"),
        (lambda p, h: 100, "it takes 4,045 rows, not 100"),
        (lambda p, h: int((1.645 / h) ** 2 * np.mean(p * (1 - p))), "rounded down"),
        (lambda p, h: round((1.645 / h) ** 2 * np.mean(p * (1 - p))), "rounded down"),
        (lambda p, h: needed(p, h, 1.65), "Take 1.645"),
    ],
    "14.3": [
        ((BROKEN.y_true, PROB), "a row up and a row down, and audit both"),
        ((np.roll(BROKEN.y_true, 1), PROB), "the wrong way"),
        ((some_wrong(), PROB), "3 labels are not"),
        ((LABELS, DIVIDED), "22 of these animals were owls"),
        ((LABELS, softmax(GIVEN, axis=1)), "Only forty were broken"),
        ((LABELS, TOP), "are not what the model said"),
        ((LABELS[KEPT], PROB[KEPT]), "1,160 rows of 1,200"),
        ((LABELS, PROB[:, 0]), "1,200 rows and 3 columns"),
        ((LABELS, np.full((1200, 3), np.nan)), "row 0 of the probabilities"),
        ((np.array(BROKEN.class_names)[LABELS], PROB), "labels are names"),
        ((LABELS[:-1], PROB), "1199"),
        ((LABELS, np.roll(PROB, 1, axis=0)), "Move one of the two"),
        ((BROKEN.y_true, np.roll(GIVEN, 1, axis=0)), "40 rows still"),
    ],
    "14.4": [
        (-GAIN["wanted"], "sign is turned"),
        (GAIN["seen"], "200 rows that the repair was fitted to"),
        (GAIN["leak"], "seen all rows"),
        (GAIN["after"], "after the repair"),
        (GAIN["other measure"], "log loss is wanted"),
        (GAIN["sum"], "mean per row"),
        (GAIN["before"], "before the repair"),
        (GAIN["promised"], "What came true"),
        (GAIN["all folds"], "audit of all rows promised"),
        (GAIN["bits"], "natural logarithm"),
        (0.1, "0.1000 is not the gain"),
    ],
    "14.2": [("Over-confident.", "only 1 word"), (0.105, "a text in quotes")],
}

RIGHT: dict[str, list[Any]] = {
    "14.1": [needed, by_loop, lambda p, h: float(needed(p, h)), lambda p, h: needed(p, h, 1.645)],
    "14.3": [
        (LABELS, PROB),
        (pd.Series(LABELS), pd.DataFrame(PROB, columns=list("abc"))),
        (LABELS[:, None], PROB),
        (pd.DataFrame({"label": LABELS}), PROB),
        (BROKEN.y_true, np.roll(PROB, 1, axis=0)),  # the predictions moved instead
        (BROKEN.y_true[1:], PROB[:-1]),  # without the pair at the two ends
    ],
    "14.4": [GAIN["wanted"], round(GAIN["wanted"], 3)],
    "14.2": [MODEL],
}


# --- the judges --------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_model_answer_says_what_the_audit_says() -> None:
    home = np.asarray((games := data.load("nba")).y_prob)
    won = ((home >= 0.5) == games.y_true).astype(int)
    favourite = np.maximum(home, 1 - home)
    error = audit(won, favourite, costs=(9, 1))["calibration"].numbers
    assert f"{error['error_without_chance']:.3f}" in POINTS[1]
    assert error["error_low"] > 0.02  # so chance hardly explains it
    assert f"that {100 * favourite.mean():.0f} of 100" in MODEL
    assert f"and {100 * won.mean():.0f} did" in MODEL
    money = (favourite >= 0.9) * np.where(won, 1, -9)
    half = Z * money.std() * np.sqrt(len(money))
    low, high = money.sum() - half, money.sum() + half
    assert f"lose {-money.sum()}; the interval, from a loss of {-low:.0f} to a win of" in MODEL
    assert f"a win of {high:.0f}, leaves open" in MODEL
    assert CHECKS["14.2"].look_at("14.2", MODEL).state is State.COMPARE
    assert CHECKS["14.2"].look_at("14.2", MODEL, range(1, 6)).state is State.SELF_ASSESSED


def test_the_gain_by_hand() -> None:
    """One shift from the first 200 rows, to the mean that Platt scaling gives."""
    wanted = PlattCalibrator().fit(P[:200], Y[:200]).calibrate(P[:200]).mean()
    shift = brentq(lambda by: expit(logit(P[:200]) + by).mean() - wanted, -9, 9)
    repaired = expit(logit(P[200:]) + shift)
    gain = log_loss(Y[200:], P[200:]).value - log_loss(Y[200:], repaired).value
    assert GAIN["wanted"] == pytest.approx(gain, abs=1e-6)
    report = audit(Y[:200], P[:200])
    assert report.repair == "offset"
    promised = report["repair"].numbers
    assert promised["gain_low"] < gain < promised["gain_high"]  # the praise says so


# --- what the lesson says ----------------------------------------------------------------------


def settings() -> AuditSettings:
    return AuditSettings(n_draws=199, n_resamples=60)


def verdicts(name: str, **options: Any) -> AuditReport:
    file = sample_file(name)
    return audit(file.y_true, file.y_prob, settings=settings(), **options)


def test_predicted_verdicts_come_true() -> None:
    mixed = verdicts("file in the mail")
    assert mixed["alignment"].verdict == "no discrimination"
    assert "belong to other rows" in mixed["alignment"].sentence
    assert verdicts("language model").repair == PREDICTIONS["14d"].outcome
    clinic = sample_file("small clinic").y_prob
    known = verdicts("small clinic")["data"].numbers
    assert known["needed_for_0.01"] == needed(clinic, 0.01)
    assert f"ECE is {mixed['calibration'].numbers['error']:.3f}" in (page := lesson_text("14"))
    least = known["smallest_error"]
    table = lesson_text("13", ".ipynb")
    assert re.search(r"9 to win 1, repaired +54 +\+14 +\+4 +± 22", table)
    assert "54 bets, which paid 4 ± 22" in page
    assert f"An average error of {100 * least:.0f} the audit finds nine times in ten" in page


def test_the_third_light_answers_first() -> None:
    mute = {"alignment": "alignment unclear", "calibration": "cannot say"}
    mute |= {"costs": "costs unknown", "repair": "no repair"}
    for rows, answered in {30: set(), 120: {"calibration"}, 250: set(mute)}.items():
        board = lesson14.audit_board_view(rows=rows, costs="1 : 20")
        said = dict(zip(board.topics, board.verdicts, strict=True))
        assert {topic for topic in mute if said[topic] != mute[topic]} == answered


@pytest.mark.slow
def test_the_audit_of_the_broken_file_says_what_the_lesson_says() -> None:
    with pytest.raises(ValueError, match="y_prob row 400 sums to"):
        audit(BROKEN.y_true, GIVEN)
    found = audit(BROKEN.y_true, PROB, settings=settings())
    assert "shifted" in found["alignment"].sentence
    assert audit(LABELS, PROB, settings=settings()).verdicts["alignment"] == "aligned"
    impossible = audit(LABELS, DIVIDED, settings=settings())["calibration"].numbers["impossible"]
    assert impossible == 22


FILES = {
    "MLB": "mlb",
    "NBA": "nba",
    "World Cup": "world_cup",
    "CIFAR-10, VGG16": "cifar10-vgg16",
    "CIFAR-10, wide ResNet": "cifar10-wideresnet",
}


@pytest.mark.long
@pytest.mark.parametrize("title", FILES)
def test_the_table_of_real_files(title: str) -> None:
    source = lesson_text("14")
    line = next(line for line in source.splitlines() if line.startswith(f"| {title} |"))
    _, rows, error, null, _, verdict, repair = (cell.strip() for cell in line.split("|")[1:-1])
    file = data.load(FILES[title])
    found = audit(file.y_true, file.y_prob)
    numbers = found["calibration"].numbers
    assert f"{found.n:,}" == rows
    assert numbers["error"] == pytest.approx(float(error), abs=6e-4)
    assert numbers["null_error"] == pytest.approx(float(null), abs=2e-3)
    assert verdict in found.codes
    if repair == "none":
        assert found.repair is None
    else:
        name, gain = repair.split(", ")
        assert found.repair == name
        assert found["repair"].numbers["gain"] == pytest.approx(float(gain), abs=0.006)


def test_prose_and_printed_numbers_agree() -> None:
    prose, stored = lesson_text("14"), lesson_text("14", ".ipynb")
    stored = re.sub(r'(\\n)?",\s+"\s*', " ", stored)  # printed sentences are wrapped
    assert "has accuracy 0.976" in stored and "right for 98 of 100" in prose
    assert "Mean confidence 0.790" in stored and "says 79 %" in prose
    assert "rows: ±0.037 (90 %)" in stored and "its error to 4 points of a hundred" in prose
    assert "'calibration': 12}" in stored and PREDICTIONS["14b"].outcome == "about 12"
    assert "screening: exit code 1" in stored and "broken file: exit code 2" in stored
    file = sample_file("screening")
    assert round(100 * file.y_true.mean()) == 29 and "29 cases among 100" in prose


# --- the outcome is not one seed's luck ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_the_verdicts_do_not_hang_on_one_seed(seed: int) -> None:
    rows = VerbalModel().sample(2000, rng=100 + seed)
    found = audit(rows.y_true, rows.y_prob, settings=settings())
    assert found.verdicts["direction"] == "over-forecast"
    screen = LogitDistortion(slope=0.5, scores=(0.5, 2.0)).sample(2500, rng=seed)
    costly = audit(screen.y_true, screen.y_prob, costs=(1, 20), settings=settings())
    assert costly.verdicts["costs"] == "worse than ignoring"
