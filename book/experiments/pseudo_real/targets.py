"""Best by what? What a calibrator on a clone is worth by three truths, and by two proper scores.

A score sees the labels of the test set, as an evaluator does. The three truths know the clone: the
calibration error left (CEAC of Kängsepp et al., section 6.1), the distance of the calibrator's map
from the true one (CMEE), and the expected log loss. By their Theorem 3 they need not agree.
"""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.special import xlogy

from book.experiments.pseudo_real.clones import (
    CALIBRATORS,
    NONE,
    TASKS,
    Population,
    PseudoSet,
    clone_of,
)
from book.experiments.pseudo_real.result import Draw
from book.experiments.pseudo_real.stored import DATA, Rows, packed, place
from calibkit import brier_score, log_loss
from calibkit.inputs import FloatVector

TARGETS_FILE = "pseudo_real_targets.csv.gz"
COORDINATES = ("task", "truth", "calibrator", "n", "seed")
TARGETS: Final = {"left": "error left", "log_loss": "expected log loss", "map": "distance of map"}
SCORES: Final = {"log loss": "seen_log_loss", "Brier score": "seen_brier"}
# The evaluators that stand beside the scores in the lesson, by the names that it gives them.
ASKED: Final = {
    "15 bins": "EW15",
    "PL3": "PL3^CE rule",
    "isotonic": "isotonic",
    "kernel densities": "KDE",
}


class Worth(NamedTuple):
    """Three truths about a calibrator on a clone, and two scores of it on a test set."""

    left: float
    map: float
    log_loss: float
    seen_log_loss: float
    seen_brier: float


Worths = Mapping[PseudoSet, Worth]


def worth(data_set: PseudoSet) -> Worth:
    """Measure a data set; labels that a map calls impossible make a log loss infinite."""
    raw, found = clone_of(data_set.task, data_set.truth), data_set.population()
    sample = data_set.sample()
    return Worth(
        left=float(np.mean(np.abs(found.prob - found.true_prob))),
        map=float(np.mean(np.abs(found.prob - raw.true_prob))),
        log_loss=_expected_log_loss(found.prob, raw),
        seen_log_loss=float(log_loss(sample.y_true, sample.y_prob)),
        seen_brier=float(brier_score(sample.y_true, sample.y_prob)),
    )


def _expected_log_loss(prob: FloatVector, raw: Population) -> float:
    with np.errstate(divide="ignore"):
        each = xlogy(raw.true_prob, prob) + xlogy(1 - raw.true_prob, 1 - prob)
    return -float(np.mean(each))


def update(data_sets: Iterable[PseudoSet], folder: Path = DATA) -> None:
    """Measure what is not stored yet."""
    known = dict(stored_worths(folder))
    wanted = sorted(data_sets, key=lambda d: (d.seed, d.task, d.truth, d.calibrator, d.n))
    known |= {data_set: worth(data_set) for data_set in wanted if data_set not in known}
    with packed(folder / TARGETS_FILE) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*COORDINATES, *Worth._fields])
        for data_set in sorted(known):
            where = [getattr(data_set, name) for name in COORDINATES]
            writer.writerow([*where, *(f"{value:.7f}" for value in known[data_set])])


def stored_worths(folder: Path = DATA) -> Worths:
    """Read what `update` wrote."""
    path = folder / TARGETS_FILE
    if not path.exists():
        return {}
    found: dict[PseudoSet, Worth] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            task, truth, calibrator = (line[name] for name in COORDINATES[:3])
            data_set = PseudoSet(task, truth, calibrator, int(line["n"]), int(line["seed"]))
            found[data_set] = Worth(*(float(line[name]) for name in Worth._fields))
    return found


def write_best(rows: Rows, worths: Worths, path: Path) -> None:
    """Write the lesson's table: who is best by each target, and whom each evaluator picks."""
    draws: dict[str, dict[str, list[str]]] = {}
    for draw, sets in sorted(draws_of(rows).items()):
        truths = [[getattr(worths[d], target) for d in sets] for target in TARGETS]
        picks = [[estimate(rows, worths, d, name) for d in sets] for name in (*SCORES, *ASKED)]
        digits = "".join(str(int(np.argmin(values))) for values in (*truths, *picks))
        by_size = draws.setdefault(TASKS[draw.task].of_network, {})
        by_size.setdefault(str(draw.n), []).append(digits)
    content = {
        "calibrators": [name for name in CALIBRATORS if name != NONE],
        "evaluators": [*SCORES, *ASKED],
        "sizes": sorted({draw.n for draw in draws_of(rows)}),
        "draws": draws,
    }
    text = json.dumps(content, indent=1)
    path.write_text(re.sub(r'"(\d+)",\s+(?=")', r'"\1", ', text) + "\n", encoding="utf-8")


def draws_of(rows: Rows) -> dict[Draw, list[PseudoSet]]:
    """Return the data sets behind the calibrators of each draw, in the order of the calibrators."""
    found: dict[Draw, list[PseudoSet]] = {}
    for d in sorted(rows, key=place):
        if d.calibrator != NONE:
            found.setdefault(Draw(d.task, d.truth, d.n, d.seed), []).append(d)
    return found


def estimate(rows: Rows, worths: Worths, data_set: PseudoSet, name: str) -> float:
    """Return what a score or an evaluator says about a data set: the lowest is picked."""
    if name in SCORES:
        return float(getattr(worths[data_set], SCORES[name]))
    return rows[data_set][ASKED.get(name, name)].absolute
