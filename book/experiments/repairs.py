"""Which repair, where the truth is known? Fakes of three classes, and two classifiers of clouds.

``python -m book.experiments.repairs`` measures both again and writes the tables of
``book/repairs.md`` (two minutes; with ``--tables`` from the stored numbers).

Sources: the review of calibration notions, section 6 (a fake classifier as a benchmark of
recalibration) and section 1.3 (a small network stacked on another classifier).
"""

import json
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from book.experiments import odir
from book.experiments.networks import causes
from book.experiments.pages import filled, markdown
from calibkit.calibrators import (
    DirichletCalibrator,
    IsotonicCalibrator,
    OneVsRest,
    TemperatureScaling,
    VectorScaling,
)
from calibkit.fakes import DirichletFake, Power
from calibkit.inputs import FloatMatrix
from calibkit_course.lesson12.models import CYCLE, LogLinear
from tools.virtual_environment import ROOT

PAGE, DATA = ROOT / "book" / "repairs.md", ROOT / "book" / "_data" / "repairs.json"
SIZES, TEST, SEEDS = (300, 3_000), 5_000, 20
K, FEATURES, TRAINING = 3, 10, 500
# A forest may say 0, which has no logarithm.
LEAST = 1e-4
Found = dict[str, dict[str, list[float]]]


def noisy(prob: FloatMatrix) -> FloatMatrix:
    """Draw every fifth label at random: a truth that no family of maps below has."""
    return 0.8 * prob + 0.2 / K


WORLDS: Mapping[str, Callable[[FloatMatrix], FloatMatrix] | None] = {
    "calibrated": None,
    "too bold": Power(0.45),
    "too timid": Power(1.8),
    "each class its own": Power((0.3, 0.6, 1.2)),
    "classes mixed": LogLinear(CYCLE),
    "noisy labels": noisy,
}
REPAIRS: Mapping[str, Any] = {
    "none": None,
    "temperature": TemperatureScaling("logits"),
    "vector scaling": VectorScaling("logits"),
    "Dirichlet": DirichletCalibrator("logits"),
    "isotonic, class by class": OneVsRest("logits", IsotonicCalibrator()),
    "small network": MLPClassifier((8,), solver="lbfgs", alpha=0.1, random_state=0),
}
# What fits above a column of the page.
SHORT = {
    "vector scaling": "vector",
    "isotonic, class by class": "isotonic",
    "small network": "network",
}


def excesses(
    prob: FloatMatrix, label: Any, new: FloatMatrix, true_prob: FloatMatrix
) -> dict[str, float]:
    """Return, per repair, by how much the expected Brier score lies above that of the truth.

    By the split of lesson 02 this is the mean squared distance of vectors from the truth.
    """
    found = {}
    scores, asked = (np.log(np.maximum(rows, LEAST)) for rows in (prob, new))
    for name, recipe in REPAIRS.items():
        said = new
        if recipe is not None:
            fitted = clone(recipe).fit(scores, label)
            say = getattr(fitted, "calibrate", None) or fitted.predict_proba
            said = say(asked)
        found[name] = float(np.mean(np.sum((said - true_prob) ** 2, axis=1)))
    return found


def of_fakes(world: str, n: int, seed: int) -> dict[str, float]:
    """Fit the repairs to `n` rows of a fake, and judge them on others."""
    fake = DirichletFake((1, 1, 1), WORLDS[world], "confidence-is-base")
    rng = np.random.default_rng([seed, n])
    fit, test = fake.sample(n, rng), fake.sample(TEST, rng)
    return excesses(fit.y_prob, fit.y_true, test.y_prob, test.true_prob)


def classifiers() -> dict[str, Any]:
    """Return a forest, which no proper score trained, and a network trained to the end."""
    return {
        "forest": RandomForestClassifier(100, random_state=0),
        "network": MLPClassifier((100,), solver="lbfgs", alpha=1e-4, max_iter=500, random_state=0),
    }


def of_clouds(model: str, n: int, seed: int) -> dict[str, float]:
    """Train a classifier on three normal clouds, fit the repairs to other rows, and judge them."""
    rng = np.random.default_rng([seed, n])
    centres = 0.6 * rng.standard_normal((K, FEATURES))
    label = rng.integers(K, size=TRAINING + n + TEST)
    x = centres[label] + rng.standard_normal((len(label), FEATURES))
    true_prob = softmax(x @ centres.T - 0.5 * np.sum(centres**2, axis=1), axis=1)
    train, fit, test = np.split(np.arange(len(label)), [TRAINING, TRAINING + n])
    trained = classifiers()[model].fit(x[train], label[train])
    prob = trained.predict_proba(x)
    return excesses(prob[fit], label[fit], prob[test], true_prob[test])


def measure() -> Found:
    """Return all excesses by world or classifier and size, seed by seed."""
    jobs = [(of_fakes, name) for name in WORLDS] + [(of_clouds, name) for name in classifiers()]
    found: Found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for run, name in jobs:
            for n in SIZES:
                draws = [run(name, n, seed) for seed in range(SEEDS)]
                found[f"{name}, {n}"] = {r: [round(d[r], 7) for d in draws] for r in REPAIRS}
    return found


def stored() -> Found:
    """Return what `measure` has found."""
    found: Found = json.loads(DATA.read_text(encoding="utf-8"))
    return found


def leaders(row: Mapping[str, list[float]]) -> list[str]:
    """Return the best repair and all that it does not beat by twice the standard error."""
    best = min(row, key=lambda name: float(np.mean(row[name])))
    gaps = {name: np.subtract(values, row[best]) for name, values in row.items()}
    return [n for n, gap in gaps.items() if gap.mean() <= 2 * gap.std(ddof=1) / SEEDS**0.5]


def tables(found: Found) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "fakes": _table(found, tuple(WORLDS)),
        "clouds": _table(found, tuple(classifiers())),
        "networks": odir.table(odir.stored()),
        "causes": causes.shown(causes.stored()),
    }


def _table(found: Found, names: tuple[str, ...]) -> str:
    rows = []
    for name in names:
        for n in SIZES:
            row = found[f"{name}, {n}"]
            best, cells = leaders(row), []
            for repair, values in row.items():
                text = f"{1000 * np.mean(values):.1f}"
                text = f"**{text}**" if repair in best else text
                error = 1000 * np.std(values, ddof=1) / SEEDS**0.5
                cells.append(f"{text} ± {error:.1f}")
            rows.append([name, str(n), *cells])
    heads = [SHORT.get(repair, repair) for repair in REPAIRS]
    return markdown(["predictions", "rows", *heads], rows)


def main(arguments: list[str]) -> None:
    """Measure, unless told otherwise, and bring the page up to date."""
    if "--tables" not in arguments:
        text = json.dumps(measure()).replace("], ", "],\n")
        DATA.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), tables(stored())), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
