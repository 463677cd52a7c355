"""How often intervals for a calibration error hold the true one: a table of the page "Measured".

``python -m book.experiments.interval_coverage`` measures everything (about ten minutes);
``--sets 50`` is a quick look.
The true value is the error of the same bins without chance, from a million predictions whose
true probabilities are known.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import calibkit as ck
from calibkit.bins import Binning
from calibkit.fakes import KnobClassifier, LogitDistortion
from calibkit.inputs import FloatVector
from calibkit_course.lesson11 import vgg16_lookalike

# The models of the table. Those with ten classes are seen through their predicted label.
MODELS: dict[str, Callable[[], Any]] = {
    "calibrated": lambda: LogitDistortion(),
    "nearly calibrated": lambda: LogitDistortion(slope=0.9),
    "over-confident": lambda: LogitDistortion(slope=0.5),
    "shifted logits": lambda: LogitDistortion(shift=-0.3),
    "10 classes, calibrated": lambda: KnobClassifier(10, 0.9),
    "10 classes, over-confident": lambda: KnobClassifier.with_error(10, 0.8, 0.1),
    "10 classes, look-alike": vgg16_lookalike,
}
SIZES = (500, 2000)
BINNINGS: dict[str, Callable[[int], Binning]] = {"w": ck.EqualWidth, "m": ck.EqualMass}
N_BINS = 15
N_KNOWN = 1_000_000
LEVEL = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Many predictions of a model, sorted, with running sums of their true gaps."""

    prob: FloatVector
    gaps: FloatVector

    def error(self, edges: FloatVector, norm: float) -> float:
        """Return the error of these bins without chance."""
        cuts = np.searchsorted(self.prob, edges[1:-1], side="left")
        bounds = np.concatenate(([0], cuts, [len(self.prob)]))
        count = np.diff(bounds)
        used = count > 0
        gap = np.diff(self.gaps[bounds])[used] / count[used]
        return float((count[used] / len(self.prob) * np.abs(gap) ** norm).sum() ** (1 / norm))


@cache
def known(model: str) -> Known:
    """Draw what is needed for the true errors of a model."""
    sample = MODELS[model]().sample(N_KNOWN, 999)
    said, true = sample.y_prob, sample.true_prob
    if said.ndim == 2:
        rows, top = np.arange(len(said)), said.argmax(axis=1)
        said, true = said[rows, top], true[rows, top]
    order = np.argsort(said)
    gaps = np.concatenate(([0.0], np.cumsum(said[order] - true[order])))
    return Known(prob=said[order], gaps=gaps)


def coverage(
    model: str, n: int, case: tuple[str, float], *, n_sets: int, n_draws: int = 1000, seed: int = 0
) -> dict[str, float]:
    """Return the share of intervals that hold the true error, by method.

    Every data set gets one bootstrap, from which the intervals of all methods are made. The
    case is a kind of bins, "w" or "m", and a norm.
    """
    fake, truth, rng = MODELS[model](), known(model), np.random.default_rng(seed)
    binning, norm = BINNINGS[case[0]](N_BINS), case[1]
    hits = {"with 0 by the null level": 0, "reflected": 0, "percentile": 0}
    for _ in range(n_sets):
        sample = fake.sample(n, rng)
        view = "top-label" if sample.y_prob.ndim == 2 else None
        data = (sample.y_true, sample.y_prob)
        how: dict[str, Any] = {"view": view, "bins": binning, "norm": norm}
        how |= {"n_draws": n_draws, "rng": rng}
        interval = ck.bootstrap_interval(ck.calibration_error, *data, level=LEVEL, **how)
        null = ck.null_level(ck.calibration_error, *data, **how)
        edges = ck.reliability_table(*data, view=view, bins=binning).edges
        wanted = truth.error(edges, norm)
        low, high = np.quantile(interval.draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        value = interval.value
        ends = 2 * value - high, 2 * value - low
        # A calibrated model could have shown as much: then 0 is not ruled out.
        first = 0.0 if null.p_value > (1 - LEVEL) / 2 else ends[0]
        hits["with 0 by the null level"] += min(first, ends[0]) <= wanted <= ends[1]
        hits["reflected"] += ends[0] <= wanted <= ends[1]
        hits["percentile"] += low <= wanted <= high
    return {method: count / n_sets for method, count in hits.items()}


def main(arguments: list[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="Measure the coverage of 90 % intervals.")
    parser.add_argument("--sets", type=int, default=1000, help="data sets per cell")
    parser.add_argument("--resamples", type=int, default=1000, help="resamples per data set")
    options = parser.parse_args(arguments)
    cases = [(kind, norm) for kind in BINNINGS for norm in (1, 2)]
    for model in MODELS:
        for n in SIZES:
            found = [
                coverage(model, n, case, n_sets=options.sets, n_draws=options.resamples)
                for case in cases
            ]
            print(row(model, n, found), flush=True)


def row(model: str, n: int, found: list[dict[str, float]]) -> str:
    """Return a line of the docstring's table: the range of the cases in per cent, by method."""
    cells = []
    for method in found[0]:
        shares = [f"{100 * one[method]:.0f}" for one in found]
        low, high = min(shares, key=int), max(shares, key=int)
        cells.append(low if low == high else f"{low} to {high}")
    return f"{model:<28}{n:<6}{cells[0]:<10}{cells[1]:<11}{cells[2]}"


if __name__ == "__main__":
    main()
