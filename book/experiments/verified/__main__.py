"""The figures and tables of `book/verified.md`: Li's report on real predictions and a look-alike.

``python -m book.experiments.verified`` redraws everything from stored numbers. ``--fake`` first
computes those of the look-alike (about two minutes), ``--real`` those of the real predictions as
well, ``--others`` those of further networks; these must be in the folder ``CALIBKIT_DATA``. Only
results are stored, in ``book/_data``.
"""

import argparse
import json
import math
import warnings
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from book.experiments.pages import filled, markdown
from book.experiments.synthetic import (
    BinnedErrors,
    CalibratorComparison,
    EstimatorComparison,
    Population,
    binned_errors,
    compare_calibrators,
    compare_estimators,
)
from book.experiments.verified import others
from book.experiments.verified.draw import FIGURES, POPULATIONS, Studies, directive, draw_all
from calibkit import CalibrationWarning
from calibkit_course import data
from calibkit_course.lesson11 import vgg16_lookalike
from tools.virtual_environment import ROOT

PAGE = ROOT / "book" / "verified.md"
STORED = ROOT / "book" / "_data" / "verified.json"
REAL = "cifar10-vgg16"
SCALERS = ("Platt", "temperature", "Dirichlet", "Dirichlet, no penalty")
SEED = 0
N_ROWS = 10_000

Study = BinnedErrors | CalibratorComparison | EstimatorComparison
KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (BinnedErrors, CalibratorComparison, EstimatorComparison)
}

# What is computed for either population.
PROTOCOLS: dict[str, Callable[[Population], Study]] = {
    "bins": partial(binned_errors, rng=SEED),
    "top": partial(compare_calibrators, rng=SEED),
    "classes": partial(compare_calibrators, view="class-wise", n_trials=30, rng=SEED),
    "scalers": partial(compare_calibrators, methods=SCALERS, n_trials=30, rng=SEED),
    "top-15": partial(compare_estimators, n_bins=15, rng=SEED),
    "top-100": partial(compare_estimators, n_bins=100, rng=SEED),
    "classes-15": partial(compare_estimators, n_bins=15, view="class-wise", rng=SEED),
    "classes-100": partial(compare_estimators, n_bins=100, view="class-wise", rng=SEED),
}


def population(which: str) -> Population:
    """Return the real predictions, or the look-alike."""
    if which == "real":
        rows = data.load(REAL, original=True)
        return Population.of_rows(rows.y_true, rows.y_prob, name=POPULATIONS[which])
    return Population.of_fake(vgg16_lookalike(), N_ROWS, SEED, name=POPULATIONS[which])


def packed(study: Study) -> dict[str, Any]:
    """Return a result as plain numbers, with six digits."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return [plain(item) for item in value]
        if isinstance(value, float | np.floating):
            return None if np.isnan(value) else float(f"{value:.6g}")
        return int(value) if isinstance(value, np.integer) else value

    # The draws are needed for figure 11 alone.
    drop = isinstance(study, EstimatorComparison) and study.view != "top-label"
    numbers = {field.name: plain(getattr(study, field.name)) for field in fields(study)}
    if drop:
        numbers |= {"plain_draws": [], "debiased_draws": []}
    return {"kind": type(study).__name__, **numbers}


def unpacked(stored: dict[str, Any]) -> Any:
    """Return the result that was packed."""
    kind = KINDS[stored["kind"]]

    def restored(name: str, value: Any) -> Any:
        if value is None:
            return float("nan")
        if not isinstance(value, list):
            return value
        if name == "methods":
            return tuple(value)
        return np.array(value, dtype=None if _whole(value) else np.float64)

    return kind(**{field.name: restored(field.name, stored[field.name]) for field in fields(kind)})


def _whole(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, int) for item in value)


def load() -> Studies:
    """Return all stored results, by population and protocol."""
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    return {
        which: {name: unpacked(one) for name, one in studies.items()}
        for which, studies in stored.items()
    }


def compute(which: str) -> dict[str, Any]:
    """Run all protocols on one population."""
    rows, found = population(which), {}
    for name, protocol in PROTOCOLS.items():
        with warnings.catch_warnings():
            # Without a penalty, some samples can be separated: part of what figure 8 shows.
            warnings.simplefilter("ignore", CalibrationWarning)
            study = protocol(rows)
        found[name] = packed(study)
        print(f"{which}, {name}: {study.describe()}", flush=True)
    return found


# --- tables --------------------------------------------------------------------------------------


def table_of_bins(studies: Studies) -> str:
    """Return the errors by number of bins; norm 2 where nothing is said."""
    real, fake = (studies[which]["bins"] for which in POPULATIONS)
    rows = {
        "real, plain": real.plain_2,
        "real, debiased": real.debiased_2,
        "real, plain, norm 1": real.plain_1,
        "look-alike, plain": fake.plain_2,
        "look-alike, debiased": fake.debiased_2,
        "look-alike, truth": fake.true_2,
        "look-alike, plain, norm 1": fake.plain_1,
        "look-alike, truth, norm 1": fake.true_1,
    }
    lines = [[name, *(f"{value:.4f}" for value in values)] for name, values in rows.items()]
    return markdown(["bins", *(str(number) for number in real.n_bins)], lines)


def table_of_calibrators(studies: Studies, protocol: str) -> str:
    """Return squared errors times 10 000 by number of bins, with standard errors."""
    lines = []
    for which in POPULATIONS:
        study = studies[which][protocol]
        for m, method in enumerate(study.methods):
            pairs = zip(study.squared[m][::3], study.standard_error[m][::3], strict=True)
            cells = [f"{1e4 * value:.1f} ± {1e4 * error:.1f}" for value, error in pairs]
            lines.append([f"{_short(which)}, {method}", *cells])
    numbers = [str(number) for number in studies["fake"][protocol].n_bins[::3]]
    return markdown(["bins", *numbers], lines)


def table_of_estimators(studies: Studies, view: str) -> str:
    """Return truth, mean estimates and mean squared distances at both ends of the sizes."""
    lines = []
    for which in POPULATIONS:
        for number in (15, 100):
            study = studies[which][f"{view}-{number}"]
            for s in (0, -1):
                values = (study.truth, study.plain_mean[s], study.debiased_mean[s])
                ratio = study.plain_mse[s] / study.cut_mse[s]
                lines.append(
                    [
                        f"{_short(which)}, {number} bins, {study.sizes[s]:,} rows",
                        *(f"{1e4 * value:.2f}" for value in values),
                        f"{ratio:.2f}",
                    ]
                )
    return markdown(["case", "truth", "plain", "debiased", "plain MSE / debiased MSE"], lines)


def rows_needed(n_bins: int, error: float, *, debiased: bool, variance: float = 0.1) -> float:
    """Return how many rows bring the squared error to within half of itself, root mean square.

    In bins of equal mass, each of `error` and with labels of this variance, the plain square is
    too large by ``B v / n``, and either square scatters by ``2 B v^2 / n^2 + 4 E^2 v / n``.
    """
    beyond = (2 * n_bins + (0 if debiased else n_bins**2)) * variance**2
    linear, allowed = 4 * error**2 * variance, error**4 / 4
    return (linear + math.sqrt(linear**2 + 4 * beyond * allowed)) / (2 * allowed)


def table_of_sizes() -> str:
    """Return the rows that the plain and the debiased estimate need, by number of bins."""
    numbers, lines = (16, 64, 256, 1024), []
    for error in (0.05, 0.02):
        for name, debiased in (("plain", False), ("debiased", True)):
            cells = [f"{rows_needed(b, error, debiased=debiased):,.0f}" for b in numbers]
            lines.append([f"error {error}, {name}", *cells])
    return markdown(["bins", *map(str, numbers)], lines)


def table_of_medians(studies: Studies) -> str:
    """Return median distances from the truth at the smallest size."""
    lines = []
    for which in POPULATIONS:
        for number in (15, 100):
            study = studies[which][f"top-{number}"]
            medians = [f"{1e4 * value:.2f}" for value in study.median_deviations]
            lines.append([f"{_short(which)}, {number} bins", *medians])
    return markdown(["case", "plain", "debiased"], lines)


def _short(which: str) -> str:
    return "real" if which == "real" else POPULATIONS[which]


def blocks(studies: Studies) -> dict[str, str]:
    """Return the generated figures and tables, by name."""
    return {
        **{name: directive(name, studies) for name in FIGURES},
        "table-1": table_of_bins(studies),
        "table-5": table_of_calibrators(studies, "top"),
        "table-6": table_of_calibrators(studies, "classes"),
        "table-8": table_of_calibrators(studies, "scalers"),
        "table-9": table_of_estimators(studies, "top"),
        "table-10": table_of_estimators(studies, "classes"),
        "table-11": table_of_medians(studies),
        "sizes": table_of_sizes(),
        **others.blocks(),
    }


def main(arguments: list[str] | None = None) -> None:
    """Compute what is asked for, then bring figures and page up to date."""
    parser = argparse.ArgumentParser(description="Rewrite book/verified.md and its figures.")
    parser.add_argument("--fake", action="store_true", help="compute the look-alike first")
    parser.add_argument("--real", action="store_true", help="compute the real predictions first")
    parser.add_argument("--others", action="store_true", help="compute other networks first")
    options = parser.parse_args(arguments)
    if options.others:
        found = json.dumps(others.compute(), separators=(",", ":"))
        others.STORED.write_text(found + "\n", encoding="utf-8")
    for which in POPULATIONS:
        if getattr(options, which):
            stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
            stored[which] = compute(which)
            STORED.write_text(json.dumps(stored, separators=(",", ":")) + "\n", encoding="utf-8")
    studies = load()
    draw_all(studies)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), blocks(studies)), encoding="utf-8")


if __name__ == "__main__":
    main()
