"""Seeded synthetic audits with a known right answer, and rows as they come from a file."""

import os
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr, softmax

from tests.paths import ROOT

CLASSES = (2, 3, 10)
SLOPES = {"over-confident": 1.8, "under-confident": 0.55}
SHIFTS = {"over-forecast": 1.0, "under-forecast": -1.0}


@dataclass(frozen=True)
class Case:
    """One data set, and what is right about it."""

    kind: str
    n_classes: int
    n: int
    seed: int
    y_true: Any
    y_prob: Any


def make(kind: str, n_classes: int, n: int, seed: int) -> Case:
    """Draw true probabilities and labels from them, then distort what the model says."""
    rng = np.random.default_rng(seed)
    slope, shift = SLOPES.get(kind, 1.0), SHIFTS.get(kind, 0.0)
    if n_classes == 2:
        true = rng.beta(*(rng.uniform(0.6, 2.5, size=2)), size=n)
        label = (rng.random(n) < true).astype(np.int64)
        distorted = expit(slope * logit(true) + 0.6 * shift)
    else:
        true = softmax(rng.normal(0, rng.uniform(1.0, 2.5), size=(n, n_classes)), axis=1)
        label = (rng.random((n, 1)) > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
        scores = slope * np.log(true)
        scores[:, 0] += 0.8 * shift  # class 0 is forecast too often or too rarely
        distorted = softmax(scores, axis=1)
    said = distorted if slope != 1 or shift else true
    if kind == "shuffled":
        label = rng.permutation(label)
    return Case(kind, n_classes, n, seed, label, said)


def skewed_log(n: int = 20_000, seed: int = 0, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Draw labels and predictions that are crowded near 0, as logs have them."""
    rng = np.random.default_rng(seed)
    prob = expit(rng.normal(-1, 1.5, n)).astype(dtype)
    return (rng.random(n) < prob**1.2).astype(np.int8), prob


# --- rows that belong together: calibrated predictions with their labels and clusters ------------


def walk(rng: np.random.Generator, teams: int = 30, dates: int = 40) -> tuple[Any, Any, Any]:
    """Draw what is known of a team's season, date by date; its one outcome ends every row."""
    time = np.sort(rng.uniform(0, 0.9, dates))
    steps = rng.normal(size=(teams, dates)) * np.sqrt(np.diff(time, prepend=0))
    known = rng.normal(0, 0.5, (teams, 1)) + np.cumsum(steps, axis=1)
    won = known[:, -1] + rng.normal(size=teams) * np.sqrt(1 - time[-1]) > 0
    prob = ndtr(known / np.sqrt(1 - time))
    return np.repeat(won * 1, dates), prob.ravel(), np.repeat(np.arange(teams), dates)


def repeated(rng: np.random.Generator, cases: int = 100, rows: int = 10) -> tuple[Any, Any, Any]:
    """Draw one vector of ten classes and one label per case, and write both down several times."""
    prob = rng.dirichlet(np.full(10, 0.5), cases)
    label = np.minimum((rng.random((cases, 1)) > prob.cumsum(axis=1)).sum(axis=1), 9)
    return tuple(np.repeat(part, rows, axis=0) for part in (label, prob, np.arange(cases)))


def effects(rng: np.random.Generator, clusters: int = 60, rows: int = 20) -> tuple[Any, Any, Any]:
    """Draw rows with an effect of their cluster on the logit, which the predictions average out."""
    cluster = np.repeat(np.arange(clusters), rows)
    score, effect = rng.normal(0, 1.2, len(cluster)), rng.normal(0, 0.8, clusters)[cluster]
    points, weight = np.polynomial.hermite_e.hermegauss(20)
    prob = expit(score[:, np.newaxis] + 0.8 * points) @ weight / weight.sum()
    return (rng.random(len(score)) < expit(score + effect)) * 1, prob, cluster


def assert_snapshot(name: str, text: str) -> None:
    """Compare a text, fractions left out, with ``tests/calibkit_audit/snapshots/NAME.txt``."""
    path = ROOT / "tests" / "calibkit_audit" / "snapshots" / f"{name}.txt"
    text = re.sub(r"-?\d+\.\d+(e-?\d+)?", "#", text).rstrip() + "\n"
    if os.environ.get("RENEW_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), (
        f"{path.name} says something else; if that is meant: RENEW_SNAPSHOTS=1 python -m pytest "
        "tests/calibkit_audit/auditing/test_snapshots.py, and read what git diff shows"
    )
